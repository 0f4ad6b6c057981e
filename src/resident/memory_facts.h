// memory_facts.h: what samples of precise events tell of memory: ADDR, DATA_SRC and their like.
#pragma once

#include "resident/process.h"
#include "subsystem/shared/sample.h"

namespace anyperf::resident {

/// A precise event, whose samples have a field about memory.
bool tells_of_memory(const EventPage& event);

/// Fills in the fields of a sample whose instruction was the thread's last, from what it touched. Address, and whether
/// it loads or stores: nothing else is known.
void tell_access(const engine::Thread& thread, const EventPage& event, subsystem::SampleFacts& facts);

}  // namespace anyperf::resident
