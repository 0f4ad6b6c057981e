// name_source.h: the sources of event names.
//
// A source looks at an item and returns its events, nothing if the name is not one of its names, or a ParseError if the
// name is its own but something about it is wrong. resolve.h explains in which order sources are asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/event.h"
#include "events/machine/machine_data.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

/// The answer of a source.
struct Match {
    std::vector<Event> events;
    std::size_t parts_used = 1;  ///< how many of item.parts name the event; any part after these must be modifiers
    bool terms_used = false;     ///< item.terms have been applied to the events
    /// Each event needs a name of its own, such as "cpu_core/cycles/", because one item became several events.
    bool distinct_names = false;
    /// The name itself said what is excluded (attributes of the catalog, like ":u"): modifiers are added to that
    /// instead of replacing it.
    bool name_sets_excludes = false;
};

using Source = Parsed<std::optional<Match>> (*)(const Machine::Data&, const Item&);

/// "cycles", "cpu-clock", "PERF_COUNT_SW_PAGE_FAULTS".
Parsed<std::optional<Match>> from_kernel_names(const Machine::Data& machine, const Item& item);

/// "L1-dcache-load-misses", "l1d:read:miss".
Parsed<std::optional<Match>> from_cache_names(const Machine::Data& machine, const Item& item);

/// "cpu/event=0x3c/", "uncore_imc*/clockticks/", "imc/clockticks/": the item names the PMU.
Parsed<std::optional<Match>> from_pmus(const Machine::Data& machine, const Item& item);

/// "mem-loads", "energy-pkg": an event that a PMU has in sysfs, without the name of the PMU.
Parsed<std::optional<Match>> from_pmu_events(const Machine::Data& machine, const Item& item);

/// "sched:sched_switch", "syscalls:*read*".
Parsed<std::optional<Match>> from_tracepoints(const Machine::Data& machine, const Item& item);

/// "mem:0x1000/8:rw".
Parsed<std::optional<Match>> from_breakpoints(const Machine::Data& machine, const Item& item);

/// "uprobe:/bin/true:main", "kprobe:vfs_read", "uprobe/path=/bin/true,offset=0x10/".
Parsed<std::optional<Match>> from_probes(const Machine::Data& machine, const Item& item);

/// "inst_retired.any", "ex_ret_instr", "unc_m_cas_count.rd": events of this machine's CPU and of PMUs outside of the
/// cores by the names that perf gives them.
Parsed<std::optional<Match>> from_vendor(const Machine::Data& machine, const Item& item);

/// "INST_RETIRED:ANY_P" of the CPU of this machine, "skl::INST_RETIRED:ANY_P" of any CPU.
Parsed<std::optional<Match>> from_catalog(const Machine::Data& machine, const Item& item);

/// The events of the catalog that the CPU of this machine has, and the names of all PMUs of the catalog. For
/// suggestions.
std::vector<std::string> catalog_event_names(const Machine::Data& machine);
std::vector<std::string> catalog_pmu_names();

/// "r1c0", "4:0x1c0".
Parsed<std::optional<Match>> from_raw(const Machine::Data& machine, const Item& item);

/// Initialises `event`: type, config, attr.size of the whole structure, and exclude_guest, which is the default of
/// perf.
void init_event(Event& event, std::uint32_t type, std::uint64_t config);

/// The same as a value. An Event has more than 500 bytes, among them a dozen strings and vectors, so a move is slow:
/// prefer init_event() where the event already has its place.
Event make_event(std::uint32_t type, std::uint64_t config);

/// One event made by init_event(), from `parts` parts of the item.
Match make_match(std::uint32_t type, std::uint64_t config, std::size_t parts = 1);

/// One event on a machine with one kind of core; on a hybrid machine one for each core PMU, with the type of the PMU in
/// the upper half of config (PERF_PMU_TYPE_SHIFT). Only for the types that take it there: hardware and hw_cache.
Match match_each_core_pmu(const Machine::Data& machine, std::uint32_t type, std::uint64_t config, std::size_t parts);

}  // namespace anyperf::events
