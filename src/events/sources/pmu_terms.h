// pmu_terms.h: the terms between the slashes of a PMU ("cpu/event=0x3c,umask=1/"), applied to an Event.
//
// A term is, in this order: an event in the events/ folder of the PMU; a field in its format/ folder; a whole word
// (config=, config1=, …); a term that every event takes; for a core PMU a name of the kernel or of a cache event; a raw
// code rNNN. An event of sysfs is applied first, whatever its place; the other terms may replace fields of it. "core=?"
// in an event of sysfs means that the user must give a value for that field.
#pragma once

#include <span>

#include "anyperf/event.h"
#include "events/sources/name_source.h"
#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// Initialises `event` for `pmu` without terms: type, CPUs and the default exclusions.
void init_pmu_event(Event& event, const host::Pmu& pmu);

/// Initialises `event` and applies `terms`. After an error `event` is not usable.
Parsed<> resolve_pmu_terms(const Machine::Data& machine, const host::Pmu& pmu, std::span<const Term> terms,
                           Event& event);

}  // namespace anyperf::events
