// time_ranges.cpp: the rules are those of perf_time__parse_for_ranges() and perf_time__percent_parse_str() in
// tools/perf/util/time-utils.c, where a test compares the two.
#include "analysis/time_ranges.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "try.h"

namespace anyperf::analysis {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr double kPerCent = 1e6;  // the unit of ranges that are not resolved yet

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// "12.345" in ns; digits after the ninth are dropped, as in perf (parse_nsec_time()).
std::optional<std::uint64_t> seconds(std::string_view text) {
    const std::size_t point = text.find('.');
    const auto whole = number(text.substr(0, point));
    if (!whole || *whole > ~std::uint64_t{0} / kSecond - 1) return std::nullopt;
    if (point == std::string_view::npos) return *whole * kSecond;
    std::string digits{text.substr(point + 1, 9)};
    digits.resize(9, '0');
    const auto rest = number(digits);
    if (!rest) return std::nullopt;
    return *whole * kSecond + *rest;
}

/// "12.5%".
std::optional<double> per_cent(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    text.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value <= 100)) return std::nullopt;
    return value;
}

std::unexpected<Error> refuse(std::string_view text, std::string_view cause) {
    return std::unexpected(Error{fmt::format("bad --time {}", text), std::string{cause},
                                 "give START,STOP in seconds, with either end left out; or 10%-20%; or 10%/2"});
}

/// Calls `add` for each piece of `text` between separators, until one fails.
template <class Add>
Result<void> for_each_piece(std::string_view text, char separator, const Add& add) {
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        TRY(add(text.substr(0, end)));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return {};
}

}  // namespace

Result<TimeRanges> TimeRanges::parse(const std::string& text) {
    TimeRanges ranges;
    ranges.relative_ = text.contains('%');
    if (ranges.relative_)
        TRY(for_each_piece(text, ',', [&](std::string_view word) { return ranges.add_percentages(word); }));
    else
        TRY(for_each_piece(text, ' ', [&](std::string_view word) { return ranges.add_times(word); }));
    if (ranges.ranges_.empty()) return refuse(text, "there is no time");
    for (std::size_t i = 1; i < ranges.ranges_.size() && !ranges.relative_; ++i)
        if (ranges.ranges_[i].begin <= ranges.ranges_[i - 1].end)
            return refuse(text, "several ranges must be in order, and apart");
    return ranges;
}

Result<void> TimeRanges::add_times(std::string_view word) {
    if (word.empty()) return {};
    Range range;
    const std::size_t comma = word.find(',');
    const std::string_view begin = word.substr(0, comma);
    const std::string_view end = comma == std::string_view::npos ? std::string_view{} : word.substr(comma + 1);
    const auto from = begin.empty() ? range.begin : seconds(begin);
    const auto to = end.empty() ? range.end : seconds(end);
    if (!from || !to) return refuse(word, "it is not a time in seconds");
    if (*from > *to) return refuse(word, "it ends before it begins");
    ranges_.push_back({*from, *to});
    return {};
}

Result<void> TimeRanges::add_percentages(std::string_view word) {
    std::optional<double> from, to;
    const std::size_t sign = word.find_first_of("-/");
    if (sign == std::string_view::npos) {
        from = 0;
        to = per_cent(word);
    } else if (word[sign] == '-') {
        from = per_cent(word.substr(0, sign));
        to = per_cent(word.substr(sign + 1));
    } else if (const auto part = per_cent(word.substr(0, sign))) {
        const auto index = number(word.substr(sign + 1));
        if (index && *index > 0 && static_cast<double>(*index) * *part <= 100.0 + *part) {
            from = *part * static_cast<double>(*index - 1);
            to = *part * static_cast<double>(*index);
        }
    }
    if (!from || !to || *from > *to) return refuse(word, "it is not a part of the recording's time");
    ranges_.push_back({static_cast<std::uint64_t>(*from * kPerCent), static_cast<std::uint64_t>(*to * kPerCent)});
    return {};
}

// An end is left to the range that begins there, except the last one.
Result<void> TimeRanges::resolve(std::uint64_t first_ns, std::uint64_t last_ns) {
    if (!relative_) return {};
    if (last_ns == 0 || last_ns < first_ns)
        return std::unexpected(Error{"cannot use --time with percentages",
                                     "the recording does not say when its first and last samples were",
                                     "give times in seconds, as `anyperf script` prints them"});
    const auto total = static_cast<double>(last_ns - first_ns);
    const auto at = [&](std::uint64_t part) {
        return first_ns + static_cast<std::uint64_t>(std::round(static_cast<double>(part) / kPerCent / 100.0 * total));
    };
    for (Range& each : ranges_) {
        each = {at(each.begin), at(each.end)};
        if (each.end > each.begin && each.end != last_ns) --each.end;
    }
    relative_ = false;
    return {};
}

}  // namespace anyperf::analysis
