// vendor_lists.h: events and metrics by the names that perf gives them: the vendors' lists of each x86 CPU, as perf's
// tools/perf/pmu-events has them ("inst_retired.any", "ex_ret_instr"; "IPC", "tma_frontend_bound").
// data/vendor/README.md describes the facts.
//
// The image has the layout that tools/catalog/pack_vendor.py writes: a header of (offset, count) pairs, then arrays of
// the rows below, then a pool of NUL-terminated strings. Rows refer to strings by offset. It lies in read-only memory;
// nothing is loaded or allocated, and any thread may read it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "events/catalog/detection/cpu.h"

namespace anyperf::vendor {

using Text = std::uint32_t;  ///< offset in the string pool; 0 is the empty string

/// The CPUs of one model that use a list.
struct CpuRow {
    std::uint8_t vendor;  ///< 0: Intel, 1: AMD
    std::uint8_t family;
    std::uint16_t model, steppings;  ///< steppings: bit i is stepping i
    std::uint16_t list;
};
static_assert(sizeof(CpuRow) == 8);

/// The list of one CPU.
struct ListRow {
    Text name;  ///< "skylake"
    std::uint32_t first_event, events, first_metric, metrics;
};
static_assert(sizeof(ListRow) == 20);

/// An event of the CPU's cores, sorted by name in its list. A hybrid CPU may have two of one name.
struct EventRow {
    std::uint64_t config, config1;
    Text name;  ///< in lower case
    Text pmu;   ///< "cpu_core", "cpu_atom"; empty: every core
};
static_assert(sizeof(EventRow) == 24);

/// A metric, sorted by name without regard to case in its list.
struct MetricRow {
    Text name, groups;  ///< groups are separated by ';'
    Text unit;          ///< a factor and what it makes: "100%", "1e3per_1k_instr"; empty: the bare number
    Text formula;
};
static_assert(sizeof(MetricRow) == 16);

std::string_view text(Text offset);

std::span<const ListRow> lists();
std::span<const EventRow> events(const ListRow& list);
std::span<const MetricRow> metrics(const ListRow& list);

/// perf's list for that CPU; nullptr if perf has no list for it.
const ListRow* list_of(const catalog::Cpu& cpu);
/// The list of that name, without regard to case; nullptr if there is none.
const ListRow* list_called(std::string_view name);

/// The events of that name in the list, without regard to case.
std::span<const EventRow> find_events(const ListRow& list, std::string_view name);
/// The metric of that name in the list, without regard to case; nullptr if there is none.
const MetricRow* find_metric(const ListRow& list, std::string_view name);

}  // namespace anyperf::vendor
