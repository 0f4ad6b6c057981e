// tables.h: the facts, as arrays. Nothing is loaded, built or allocated: the rows lie in read-only memory.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "events/catalog/format.h"

namespace anyperf::catalog {

std::span<const PmuRow> pmus();  ///< in the order that decides unprefixed names; `perf` and `perf_raw` are among them
std::span<const TableRow> tables();
std::span<const EventRow> events();
std::span<const EventRow> events(const TableRow& table);
std::span<const MaskRow> masks(const EventRow& event);
std::span<const std::uint8_t> mask_hashes(const EventRow& event);  ///< as many as masks
std::span<const CpuRule> cpu_rules(const PmuRow& pmu);
std::span<const ModifierRow> modifiers(Modset set);  ///< element i has index i

const RuleRow& rule(const EventRow& event);
const RuleRow& rule(const MaskRow& mask);

/// The text at an offset; NUL-terminated, so data() is a C string.
std::string_view text(Text offset);
const char* c_text(Text offset);

inline std::string_view name_of(const EventRow& event) {
    return {c_text(event.name), event.name_length};
}

/// The PMU of that name, without regard to case; nullptr: there is none.
const PmuRow* find_pmu(std::string_view name);
/// The PMU of that pfm_pmu_t; nullptr: no PMU uses it.
const PmuRow* pmu_of_id(std::uint32_t id);
/// One more than the highest pfm_pmu_t.
std::uint32_t id_limit();
/// The enumerator ("PFM_PMU_INTEL_SKL") of an id, used or not; empty: unknown.
std::string_view id_name(std::uint32_t id);

std::size_t index_of(const PmuRow& pmu);
std::uint32_t index_of(const EventRow& event);  ///< in events()
const TableRow* find_table(std::string_view name);

/// Calls visit(position in the table) for each event of that name, in order, until it says true. Says whether one did.
template <class Visit>
bool visit_named(const TableRow& table, std::string_view name, std::uint32_t hash, Visit&& visit);

std::size_t image_bytes();

}  // namespace anyperf::catalog

#include "events/catalog/tables_inline.h"
