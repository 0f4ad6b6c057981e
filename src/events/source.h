// source.h: where names come from. Each source looks at an item and gives the events that it stands for, or nothing
// where the name isn't its own; parse.cpp asks them in the order of docs/events.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/event.h"
#include "events/fault.h"
#include "events/machine_data.h"
#include "events/tokens.h"

namespace anyperf::events {

/// What a source made of an item.
struct Match {
    std::vector<Event> events;
    std::size_t parts = 1;    ///< of item.parts that were used; what follows must be modifiers
    bool terms_used = false;  ///< item.terms are in the events already
    /// Printed as PMU/NAME/, so that the events of one item differ: "cpu_core/cycles/".
    bool name_each = false;
    /// What is excluded was said by the name's own attributes: modifiers come on top of it.
    bool own_excludes = false;
};

using Source = Parsed<std::optional<Match>> (*)(const Machine::Data&, const Item&);

/// "cycles", "cpu-clock", "PERF_COUNT_SW_PAGE_FAULTS".
Parsed<std::optional<Match>> from_kernel_names(const Machine::Data& machine, const Item& item);

/// "L1-dcache-load-misses", "l1d:read:miss".
Parsed<std::optional<Match>> from_cache_names(const Machine::Data& machine, const Item& item);

/// "cpu/event=0x3c/", "uncore_imc*/clockticks/", "imc/clockticks/": the PMU is named.
Parsed<std::optional<Match>> from_pmus(const Machine::Data& machine, const Item& item);

/// "mem-loads", "energy-pkg": an event that some PMU has in sysfs, without the PMU.
Parsed<std::optional<Match>> from_pmu_events(const Machine::Data& machine, const Item& item);

/// "sched:sched_switch", "syscalls:*read*".
Parsed<std::optional<Match>> from_tracepoints(const Machine::Data& machine, const Item& item);

/// "mem:0x1000/8:rw".
Parsed<std::optional<Match>> from_breakpoints(const Machine::Data& machine, const Item& item);

/// "uprobe:/bin/true:main", "kprobe:vfs_read", "uprobe/path=/bin/true,offset=0x10/".
Parsed<std::optional<Match>> from_probes(const Machine::Data& machine, const Item& item);

/// "INST_RETIRED:ANY_P" of this CPU's catalog, "skl::INST_RETIRED:ANY_P" of any CPU's.
Parsed<std::optional<Match>> from_catalog(const Machine::Data& machine, const Item& item);

/// Events of the catalog that this CPU has, and the names of all its PMUs; for near names.
std::vector<std::string> catalog_event_names(const Machine::Data& machine);
std::vector<std::string> catalog_pmu_names();

/// "r1c0", "4:0x1c0".
Parsed<std::optional<Match>> from_raw(const Machine::Data& machine, const Item& item);

/// Makes `event`, which is new, one of `type` with perf's default of not counting guests; attr.size is that of the
/// whole structure.
void begin_plain(Event& event, std::uint32_t type, std::uint64_t config);

/// The same as a value. An event is 700 bytes, a dozen of them strings and vectors that are moved one by one: who has
/// a place for it begins it there.
Event plain_event(std::uint32_t type, std::uint64_t config);

/// One plain event, of `parts` of the item.
Match plain_match(std::uint32_t type, std::uint64_t config, std::size_t parts = 1);

/// One event where the machine has one kind of core; else one for each core PMU, with the PMU's type in the upper half
/// of config. For types that the kernel spreads over core PMUs: hardware and hw_cache.
Match on_each_core(const Machine::Data& machine, std::uint32_t type, std::uint64_t config, std::size_t parts);

}  // namespace anyperf::events
