// pmu_terms.h: the terms between the slashes of a PMU ("cpu/event=0x3c,umask=1/"), applied to an Event.
//
// The meaning of a term is the first of these that fits:
//
// - a field in the PMU's format/ folder
// - without a value: an event in its events/ folder, or else of the vendor's list
// - a whole word (config=, config1=, …)
// - a term that every event accepts
// - for core PMUs and the software PMU: a name of the kernel or of a cache event
// - a raw code rNNN
//
// An event of events/ or of the vendor's list is applied first, wherever it is written, so the other terms may replace
// its fields. "core=?" in such an event means that the user must give a value for that field.
#pragma once

#include <span>

#include "anyperf/event.h"
#include "events/sources/name_source.h"
#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// Initialises `event` for `pmu`, without terms: type, PMU, CPUs and the default exclusions.
void init_pmu_event(Event& event, const host::Pmu& pmu);

/// Initialises `event` and applies `terms`. After an error, the contents of `event` are unspecified.
Parsed<> resolve_pmu_terms(const Machine::Data& machine, const host::Pmu& pmu, std::span<const Term> terms,
                           Event& event);

}  // namespace anyperf::events
