// tables.cpp: views of the catalog image (format.h). The image is part of the executable's read-only data: the program
// reads and unpacks nothing when it starts, and the kernel loads only the pages that are used. The tools that write the
// image check it, so its indices are not checked again here.
#include "events/catalog/tables.h"

#include <array>

// Defined in image.S.
extern "C" const char anyperf_catalog_image[];

namespace anyperf::catalog {

namespace {

const Header& header() {
    return *reinterpret_cast<const Header*>(anyperf_catalog_image);
}

/// The elements of one array of the image.
template <class Row>
std::span<const Row> rows(Part part) {
    return {reinterpret_cast<const Row*>(anyperf_catalog_image + part.offset), part.count};
}

}  // namespace

const char* c_text(Text offset) {
    return anyperf_catalog_image + header().strings.offset + offset;
}

std::string_view text(Text offset) {
    return c_text(offset);
}

std::span<const PmuRow> pmus() {
    return rows<PmuRow>(header().pmus);
}

std::span<const TableRow> tables() {
    return rows<TableRow>(header().tables);
}

std::span<const EventRow> events() {
    return rows<EventRow>(header().events);
}

std::span<const EventRow> events(const TableRow& table) {
    return events().subspan(table.first_event, table.events);
}

// The tracepoints of this machine (event_flag::host) are in allocated memory, in one block with their masks. Their
// first_mask and sysfs are not indices but the distances, in bytes, from the event to its masks and to their hashes.
std::span<const MaskRow> masks(const EventRow& event) {
    if ((event.flags & event_flag::host) != 0) {
        const char* const first = reinterpret_cast<const char*>(&event) + event.first_mask;
        return {reinterpret_cast<const MaskRow*>(first), event.masks};
    }
    return rows<MaskRow>(header().masks).subspan(event.first_mask, event.masks);
}

std::span<const std::uint8_t> mask_hashes(const EventRow& event) {
    if ((event.flags & event_flag::host) != 0)
        return {reinterpret_cast<const std::uint8_t*>(&event) + event.sysfs, event.masks};
    return rows<std::uint8_t>(header().mask_hashes).subspan(event.first_mask, event.masks);
}

std::span<const CpuRule> cpu_rules(const PmuRow& pmu) {
    return rows<CpuRule>(header().cpu_rules).subspan(pmu.first_cpu_rule, pmu.cpu_rules);
}

std::span<const ModifierRow> modifiers(Modset set) {
    constexpr std::size_t kSets = static_cast<std::size_t>(Modset::perf) + 1;
    // The rows of a set are adjacent, so each set is a range. The first call finds the ranges.
    static const auto kBySet = [] {
        std::array<std::span<const ModifierRow>, kSets> by_set;
        const auto all = rows<ModifierRow>(header().modifiers);
        for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
            while (last < all.size() && all[last].modset == all[first].modset) ++last;
            by_set[static_cast<std::size_t>(all[first].modset)] = all.subspan(first, last - first);
        }
        return by_set;
    }();
    return kBySet[static_cast<std::size_t>(set)];
}

const RuleRow& rule(const EventRow& event) {
    return rows<RuleRow>(header().rules)[event.rule];
}

const RuleRow& rule(const MaskRow& mask) {
    return rows<RuleRow>(header().rules)[mask.rule];
}

// The hash table has open addressing and is made at build time. A slot is the index of a PMU plus 1, or 0 if it is
// free. At most half of the slots are used, so a search for an unknown name ends.
const PmuRow* find_pmu(std::string_view name) {
    const auto slots = rows<std::uint16_t>(header().pmu_slots);
    const std::size_t wrap = slots.size() - 1;
    for (std::size_t at = name_hash(name) & wrap; slots[at] != 0; at = (at + 1) & wrap) {
        const PmuRow& pmu = pmus()[slots[at] - 1U];
        if (same_name({c_text(pmu.name), pmu.name_length}, name)) return &pmu;
    }
    return nullptr;
}

const PmuRow* pmu_of_id(std::uint32_t id) {
    const auto by_id = rows<std::uint16_t>(header().pmu_of_id);
    return id < by_id.size() && by_id[id] != 0 ? &pmus()[by_id[id] - 1U] : nullptr;
}

std::uint32_t id_limit() {
    return header().pmu_of_id.count;
}

std::string_view id_name(std::uint32_t id) {
    return id < header().id_names.count ? text(rows<Text>(header().id_names)[id]) : std::string_view{};
}

std::size_t index_of(const PmuRow& pmu) {
    return static_cast<std::size_t>(&pmu - pmus().data());
}

std::uint32_t index_of(const EventRow& event) {
    return static_cast<std::uint32_t>(&event - events().data());
}

const TableRow* find_table(std::string_view name) {
    for (const TableRow& table : tables())
        if (text(table.name) == name) return &table;
    return nullptr;
}

std::span<const std::uint16_t> event_slots(const TableRow& table) {
    return rows<std::uint16_t>(header().event_slots).subspan(table.first_slot, table.slots);
}

std::size_t image_bytes() {
    const Header& h = header();
    return h.mask_hashes.offset + h.mask_hashes.count;  // the last part
}

}  // namespace anyperf::catalog
