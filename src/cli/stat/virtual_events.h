// virtual_events.h: what people must know about events that the virtual PMU of a run has counted.
#pragma once

#include <optional>

#include "anyperf/counter_set.h"
#include "anyperf/error.h"
#include "anyperf/event.h"

namespace anyperf::cli::stat {

/// Hardware, cache and raw events: the virtual PMU's.
bool of_cpu(const events::Event& event);

/// Whether its count comes from the cost model (docs/models.md).
bool modelled(const events::Event& event);

/// The event as the virtual PMU is asked for it: user mode alone, which is all that it sees, so that no right to count
/// the kernel is needed.
events::Event in_user_mode(events::Event event);

/// Why the event has no count, in words that fit a run; nothing where it has one.
std::optional<Error> why_not(const events::Event& event, const counting::Refusal* refusal);

}  // namespace anyperf::cli::stat
