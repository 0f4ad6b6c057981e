// pmu_terms.h: the terms between the slashes of a PMU's event, put into an Event.
#pragma once

#include <span>

#include "anyperf/event.h"
#include "events/fault.h"
#include "events/source.h"

namespace anyperf::events {

/// Makes `event`, which is new, one of `pmu` with nothing set: type, CPUs, and what is excluded by default.
void begin_of_pmu(Event& event, const host::Pmu& pmu);

/// `terms` as `pmu` understands them: its format/ fields, config=…, names of its events/, the kernel's names where it
/// is a core PMU, and the terms that go with every event. `event` is new; good for nothing after a fault.
Parsed<> resolve_pmu_terms(const Machine::Data& machine, const host::Pmu& pmu, std::span<const Term> terms,
                           Event& event);

}  // namespace anyperf::events
