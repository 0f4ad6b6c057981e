#include "events/vendor/vendor_lists.h"

#include <algorithm>

#include "events/catalog/text.h"
#include "events/vendor/packed_strings.h"
#include "events/vendor/whole_match.h"

// Defined in vendor_image.S.
extern "C" const char anyperf_vendor_image[];

namespace anyperf::vendor {

namespace {

struct Part {
    std::uint32_t offset, count;
};
/// The start of the image, which tools write at build time. All offsets are from there, so the image needs no
/// relocations and is shared between processes.
struct Header {
    char magic[8];  ///< "anyperfv"
    Part cpus, patterns, lists, boxes, kinds, events, metrics, names, terms, strings;
};

const Header& header() {
    return *reinterpret_cast<const Header*>(anyperf_vendor_image);
}

template <class Row>
std::span<const Row> rows(Part part) {
    return {reinterpret_cast<const Row*>(anyperf_vendor_image + part.offset), part.count};
}

PackedStrings sorted_strings(Part part) {
    return {anyperf_vendor_image + part.offset, part.count};
}

constexpr char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The metrics are sorted by letters in lower case during the build, so that a lookup is a binary search in the image.
bool comes_before(std::string_view left, std::string_view right) {
    return std::ranges::lexicographical_compare(left, right, {}, lower, lower);
}

/// The number of the name among the names of all lists.
std::optional<std::uint32_t> number_of(std::string_view name) {
    std::string lowered{name};
    std::ranges::transform(lowered, lowered.begin(), lower);
    return sorted_strings(header().names).find(lowered);
}

/// Whether `typed` is the name, or what follows the folder of a vendor in it: "neoverse-n1" of "arm/neoverse-n1".
bool is_called(const ListRow& list, std::string_view typed) {
    const std::string_view name = text(list.name);
    return catalog::same_name(name, typed) || catalog::same_name(name.substr(name.find('/') + 1), typed);
}

}  // namespace

std::string_view text(Text offset) {
    return anyperf_vendor_image + header().strings.offset + offset;
}

std::span<const ListRow> lists() {
    return rows<ListRow>(header().lists);
}

std::span<const EventRow> events(const ListRow& list) {
    return rows<EventRow>(header().events).subspan(list.first_event, list.events);
}

std::span<const MetricRow> metrics(const ListRow& list) {
    return rows<MetricRow>(header().metrics).subspan(list.first_metric, list.metrics);
}

std::string name_of(const EventRow& event) {
    return sorted_strings(header().names).at(event.name);
}

std::string terms_of(const EventRow& event) {
    return sorted_strings(header().terms).at(event.terms);
}

const BoxRow& box_of(const ListRow& list, const EventRow& event) {
    return rows<BoxRow>(header().boxes)[list.first_box + event.box];
}

const KindRow& kind_of(const EventRow& event) {
    return rows<KindRow>(header().kinds)[event.kind];
}

const ListRow* list_of(const catalog::Cpu& cpu) {
    using Kind = catalog::Cpu::Kind;
    if (cpu.kind != Kind::intel && cpu.kind != Kind::amd) return nullptr;
    const std::uint8_t vendor = cpu.kind == Kind::intel ? 0 : 1;
    for (const CpuRow& row : rows<CpuRow>(header().cpus))
        if (row.vendor == vendor && row.family == cpu.family && row.model == cpu.model &&
            ((row.steppings >> (cpu.stepping & 15U)) & 1) != 0)
            return &lists()[row.list];
    return nullptr;
}

const ListRow* list_of_id(const std::string& cpu_id) {
    for (const CpuPatternRow& row : rows<CpuPatternRow>(header().patterns))
        if (matches_whole(text(row.pattern).data(), cpu_id)) return &lists()[row.list];
    return nullptr;
}

std::vector<const char*> patterns_of(const ListRow& list) {
    std::vector<const char*> patterns;
    for (const CpuPatternRow& row : rows<CpuPatternRow>(header().patterns))
        if (&lists()[row.list] == &list) patterns.push_back(text(row.pattern).data());
    return patterns;
}

const ListRow* list_called(std::string_view name) {
    for (const ListRow& list : lists())
        if (is_called(list, name)) return &list;
    return nullptr;
}

bool is_event_name(std::string_view name) {
    return number_of(name).has_value();
}

std::span<const EventRow> find_events(const ListRow& list, std::string_view name) {
    const auto number = number_of(name);
    if (!number) return {};
    const auto found = std::ranges::equal_range(events(list), *number, {}, &EventRow::name);
    return {found.begin(), found.end()};
}

const MetricRow* find_metric(const ListRow& list, std::string_view name) {
    const auto found = std::ranges::lower_bound(metrics(list), name, comes_before,
                                                [](const MetricRow& row) { return text(row.name); });
    const bool exists = found != metrics(list).end() && catalog::same_name(text(found->name), name);
    return exists ? &*found : nullptr;
}

}  // namespace anyperf::vendor
