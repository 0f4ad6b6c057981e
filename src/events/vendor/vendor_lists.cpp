#include "events/vendor/vendor_lists.h"

#include <algorithm>

#include "events/catalog/text.h"

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
    Part cpus, lists, events, metrics, strings;
};

const Header& header() {
    return *reinterpret_cast<const Header*>(anyperf_vendor_image);
}

template <class Row>
std::span<const Row> rows(Part part) {
    return {reinterpret_cast<const Row*>(anyperf_vendor_image + part.offset), part.count};
}

constexpr char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The lists are sorted by letters in lower case during the build, so that a lookup is a binary search in the image.
bool comes_before(std::string_view left, std::string_view right) {
    return std::ranges::lexicographical_compare(left, right, {}, lower, lower);
}

template <class Row>
std::span<const Row> find_named(std::span<const Row> sorted, std::string_view name) {
    const auto found =
        std::ranges::equal_range(sorted, name, comes_before, [](const auto& row) { return text(row.name); });
    return {found.begin(), found.end()};
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

const ListRow* list_called(std::string_view name) {
    for (const ListRow& list : lists())
        if (catalog::same_name(text(list.name), name)) return &list;
    return nullptr;
}

std::span<const EventRow> find_events(const ListRow& list, std::string_view name) {
    return find_named(events(list), name);
}

const MetricRow* find_metric(const ListRow& list, std::string_view name) {
    const auto found = find_named(metrics(list), name);
    return found.empty() ? nullptr : found.data();
}

}  // namespace anyperf::vendor
