// pmu_details.cpp: what sysfs says about one PMU. The syntax of the files is in
// Documentation/ABI/testing/sysfs-bus-event_source-devices-*.
//
//     format/FIELD    "config:0-7,32-35": the bits of a word of the attr that the field's value is spread over
//     events/NAME     "event=0x3c,umask=1": an event as values of fields
//     events/NAME.unit, .scale, .per-pkg, .snapshot      how its counts are to be read
//     caps/NAME       a property of the PMU, such as max_precise
//
// A file of format/ or events/ that cannot be read or parsed is listed in PmuDetails::faults, and the other files are
// used: a driver newer than anyperf must not make the whole PMU unusable.
#include "host/hardware/pmu_details.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "host/printable.h"

namespace anyperf::host {

namespace {

constexpr std::array<std::string_view, 5> kWords{"config", "config1", "config2", "config3", "config4"};
constexpr std::array<std::string_view, 4> kSuffixes{".scale", ".unit", ".per-pkg", ".snapshot"};

/// Removes a bit number (0 to 63) from the beginning of `text`. False if there is none.
bool take_bit(std::string_view& text, unsigned& bit) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bit);
    if (error != std::errc{} || bit > 63) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// Parses "0-7,32-35". False if it is not such a list.
bool parse_ranges(std::string_view text, std::vector<BitRange>& ranges) {
    while (true) {
        BitRange range;
        if (!take_bit(text, range.first)) return false;
        range.last = range.first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            if (!take_bit(text, range.last)) return false;
        }
        if (range.last < range.first) return false;
        ranges.push_back(range);
        if (text.empty()) return true;
        if (!text.starts_with(',')) return false;
        text.remove_prefix(1);
    }
}

/// A side file such as events/NAME.unit; empty if it can't be read.
std::string side_file(const Root& root, const std::string& file) {
    return root.read(file).value_or("");
}

/// 1 if the text is not a number.
double scale_of(const std::string& text) {
    double scale = 1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
    return error == std::errc{} && end != text.data() ? scale : 1;
}

bool is_side_file(std::string_view name) {
    return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

/// Reads an event of events/ with its side files. They give the unit and scale of its counts, and mark counts that are
/// of a whole package (.per-pkg) or a present value instead of a sum (.snapshot).
Alias read_alias(const Root& root, const std::string& folder, const std::string& name, std::string terms,
                 const std::vector<std::string>& siblings) {
    const auto has = [&](std::string_view suffix) {
        return std::ranges::binary_search(siblings, name + std::string{suffix});
    };
    Alias alias{name, std::move(terms), "", 1, has(".per-pkg"), has(".snapshot")};
    if (has(".unit")) alias.unit = printable(side_file(root, folder + name + ".unit"));
    if (has(".scale")) alias.scale = scale_of(side_file(root, folder + name + ".scale"));
    return alias;
}

void read_formats(const Root& root, const std::string& folder, PmuDetails& details) {
    for (const std::string& name : root.list(folder)) {
        const auto text = root.read(folder + name);
        auto format = text ? parse_format(name, *text) : std::unexpected(text.error());
        if (format)
            details.formats.push_back(*std::move(format));
        else
            details.faults.push_back(std::move(format).error());
    }
}

void read_aliases(const Root& root, const std::string& folder, PmuDetails& details) {
    const std::vector<std::string> names = root.list(folder);
    for (const std::string& name : names) {
        if (is_side_file(name)) continue;
        auto terms = root.read(folder + name);
        if (terms)
            details.aliases.push_back(read_alias(root, folder, name, *std::move(terms), names));
        else
            details.faults.push_back(std::move(terms).error());
    }
}

}  // namespace

unsigned Format::width() const {
    unsigned sum = 0;
    for (const BitRange& range : bits) sum += range.width();
    return sum;
}

std::uint64_t Format::mask() const {
    return spread(~0ull);
}

// The lowest bits of the value go to the lowest bits that the field has, and so on upwards.
std::uint64_t Format::spread(std::uint64_t value) const {
    std::uint64_t word_bits = 0;
    for (const BitRange& range : bits) {
        const std::uint64_t ones = ~0ull >> (64 - range.width());
        word_bits |= (value & ones) << range.first;
        value = range.width() == 64 ? 0 : value >> range.width();
    }
    return word_bits;
}

Result<Format> parse_format(std::string_view name, std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto word = std::ranges::find(kWords, text.substr(0, colon));
    Format format{std::string{name}, static_cast<unsigned>(word - kWords.begin()), {}};
    if (colon == std::string_view::npos || word == kWords.end() || !parse_ranges(text.substr(colon + 1), format.bits))
        return std::unexpected(Error{"cannot use the PMU's field '" + format.name + "'",
                                     "its format is '" + std::string{text} + "', not as in config1:0-7,32-35", ""});
    // perf keeps these bits as a bitmap, so the order of the ranges in the file has no meaning.
    std::ranges::sort(format.bits, {}, &BitRange::first);
    return format;
}

PmuDetails read_details(const Root& root, const std::string& directory) {
    PmuDetails details;
    read_formats(root, directory + "/format/", details);
    read_aliases(root, directory + "/events/", details);
    for (const std::string& name : root.list(directory + "/caps/"))
        details.caps.push_back({name, root.read(directory + "/caps/" + name).value_or("")});
    return details;
}

}  // namespace anyperf::host
