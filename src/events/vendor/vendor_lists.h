// vendor_lists.h: events and metrics by the names that perf gives them: the lists of the vendors as perf's
// tools/perf/pmu-events has them ("inst_retired.any", "unc_m_cas_count.rd", "ex_ret_instr"; "IPC",
// "tma_frontend_bound"). data/vendor/README.md describes the facts.
//
// A list has the events of one CPU: of its cores, and of PMUs outside of the cores. A system list has those of PMUs
// that are no part of a CPU; the file `identifier` of such a PMU says which of them it has.
//
// The image has the layout that tools/catalog/pack_vendor.py writes: a header of (offset, count) pairs, then arrays of
// the rows below, two tables of sorted strings (packed_strings.h), then a pool of NUL-terminated strings. Rows refer to
// strings of the pool by offset, to sorted strings by number. It lies in read-only memory; nothing is loaded, and any
// thread may read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/catalog/detection/cpu.h"

namespace anyperf::vendor {

using Text = std::uint32_t;  ///< offset in the string pool; 0 is the empty string

/// The x86 CPUs of one model that use a list.
struct CpuRow {
    std::uint8_t vendor;  ///< 0: Intel, 1: AMD
    std::uint8_t family;
    std::uint16_t model, steppings;  ///< steppings: bit i is stepping i
    std::uint16_t list;
};
static_assert(sizeof(CpuRow) == 8);

/// The CPUs of another architecture that use a list: a pattern of perf's identifiers, see events/machine/perf_cpu_id.h.
struct CpuPatternRow {
    Text pattern;
    std::uint32_t list;
};
static_assert(sizeof(CpuPatternRow) == 8);

struct ListRow {
    Text name;  ///< "skylake", "arm/neoverse-n1", "hisilicon/hip09/sys"
    std::uint32_t first_event, events, first_metric, metrics, first_box, boxes;
    std::uint32_t is_system;  ///< 1: a list of PMUs that are no part of a CPU
};
static_assert(sizeof(ListRow) == 32);

/// A PMU of a list.
struct BoxRow {
    Text pmu;     ///< "uncore_imc", of which a machine may have several: "uncore_imc_0"; "cpu_core"; empty: every core
    Text fields;  ///< "event=config:0-7 umask=config:8-15": where its terms go, as far as known without a machine
};
static_assert(sizeof(BoxRow) == 8);

/// What events have in common besides their code.
struct KindRow {
    Text scale;   ///< a factor and what it makes: "64Bytes"; empty: a plain count
    Text compat;  ///< of a system list: a pattern of the identifiers of PMUs that have the event
    std::uint32_t per_package;
};
static_assert(sizeof(KindRow) == 12);

/// An event, sorted by name in its list. Several PMUs of a list may have events of one name.
struct EventRow {
    std::uint16_t name, terms;  ///< sorted strings
    std::uint8_t box;           ///< of the boxes of its list
    std::uint8_t kind;
};
static_assert(sizeof(EventRow) == 6);

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

/// The name of the event, in lower case.
std::string name_of(const EventRow& event);
/// The terms of its code: "event=0x4,umask=0x3"; of a core of x86 "config=0xc0,config1=0x1".
std::string terms_of(const EventRow& event);
const BoxRow& box_of(const ListRow& list, const EventRow& event);
const KindRow& kind_of(const EventRow& event);

/// perf's list for that CPU of x86; nullptr if perf has no list for it.
const ListRow* list_of(const catalog::Cpu& cpu);
/// perf's list for a CPU of another architecture by perf's identifier; nullptr if perf has no list for it.
const ListRow* list_of_id(const std::string& cpu_id);
/// The patterns of the identifiers of the CPUs that use the list. None for lists of x86.
std::vector<const char*> patterns_of(const ListRow& list);
/// The list of that name, without regard to case. The vendor's folder may be left out: "neoverse-n1". nullptr if there
/// is none.
const ListRow* list_called(std::string_view name);

/// Whether any list has an event of that name, without regard to case.
bool is_event_name(std::string_view name);
/// The events of that name in the list, without regard to case.
std::span<const EventRow> find_events(const ListRow& list, std::string_view name);
/// The metric of that name in the list, without regard to case; nullptr if there is none.
const MetricRow* find_metric(const ListRow& list, std::string_view name);

}  // namespace anyperf::vendor
