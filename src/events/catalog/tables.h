// tables.h: access to the packed catalog: the arrays of format.h as spans, and lookups by name.
//
// Nothing is loaded, built or allocated: the rows are in read-only memory. All functions may be called from any thread.
//
// A lookup of PMU::EVENT:MASK takes three steps:
// - find_pmu() hashes the prefix with name_hash() and probes the table of PMU names.
// - visit_named() hashes the event name and probes the hash table of the PMU's event table. A table may have several
//   events of one name, each limited to some models, so the caller decides which one to take.
// - find_mask() in read.cpp compares the one-byte mask_hash() of all masks of the event, sixteen at a time, then the
//   names of those that match.
//
// Names are compared without regard to case.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "events/catalog/format.h"

namespace anyperf::catalog {

std::span<const PmuRow>
pmus();  ///< in the order in which a name without a prefix is searched; `perf` and `perf_raw` are included
std::span<const TableRow> tables();
std::span<const EventRow> events();
std::span<const EventRow> events(const TableRow& table);
std::span<const MaskRow> masks(const EventRow& event);
std::span<const std::uint8_t> mask_hashes(const EventRow& event);  ///< one for each of masks(event)
std::span<const CpuRule> cpu_rules(const PmuRow& pmu);
std::span<const ModifierRow> modifiers(Modset set);  ///< element i has ModifierRow::index i

/// Properties that few events and masks have (format.h). Row 0, which has no property, if there are none.
const RuleRow& rule(const EventRow& event);
const RuleRow& rule(const MaskRow& mask);

/// The text at an offset of the string pool. It is NUL-terminated, so data() is a C string.
std::string_view text(Text offset);
const char* c_text(Text offset);

/// The name, NUL-terminated like any text. Rows made at run time (event_flag::host, tracepoints) store its offset from
/// the row itself. So pass the row itself, never a copy.
inline std::string_view name_of(const EventRow& event) {
    const bool host = (event.flags & event_flag::host) != 0;
    return {host ? reinterpret_cast<const char*>(&event) + event.name : c_text(event.name), event.name_length};
}
inline std::string_view name_of(const MaskRow& mask) {
    const bool host = (mask.flags & mask_flag::host) != 0;
    return {host ? reinterpret_cast<const char*>(&mask) + mask.name : c_text(mask.name), mask.name_length};
}

/// The PMU of that name, without regard to case; nullptr if there is none.
const PmuRow* find_pmu(std::string_view name);
/// The PMU of a pfm_pmu_t value; nullptr if no PMU uses the value.
const PmuRow* pmu_of_id(std::uint32_t id);
/// One more than the highest pfm_pmu_t value.
std::uint32_t id_limit();
/// The enumerator ("PFM_PMU_INTEL_SKL") of a pfm_pmu_t value, whether or not a PMU uses it; empty if unknown.
std::string_view id_name(std::uint32_t id);

std::size_t index_of(const PmuRow& pmu);        ///< in pmus()
std::uint32_t index_of(const EventRow& event);  ///< in events()
/// The table of that name ("s390x/cpum_cf_z16"); nullptr if there is none. It searches all tables.
const TableRow* find_table(std::string_view name);

/// Calls visit(position in the table) for each event of that name, in table order, until it returns true. `hash` is
/// name_hash(name). Returns whether a call returned true.
template <class Visit>
bool visit_named(const TableRow& table, std::string_view name, std::uint32_t hash, Visit&& visit);

/// The size of the image without the padding at its end.
std::size_t image_bytes();

}  // namespace anyperf::catalog

#include "events/catalog/tables_inline.h"
