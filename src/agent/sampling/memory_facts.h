// memory_facts.h: the fields of a precise event's samples that describe a memory access: ADDR, DATA_SRC and
// DATA_PAGE_SIZE. A sample has the address and whether the instruction loads or stores. It has no cache level, latency
// or TLB result, even in a run that models caches: the models only count.
#pragma once

#include "agent/process.h"
#include "subsystem/shared/sample.h"

namespace anyperf::agent {

/// Whether the event is precise (precise_ip), counts by live counters and samples a field about memory.
bool samples_memory(const EventPage& event);

/// Fills in the fields about memory from the accesses of the thread's last instruction (AgentState::last_accesses).
/// Leaves them unchanged if the instruction accessed nothing that the event counts.
void add_memory_facts(const engine::Thread& thread, const EventPage& event, subsystem::SampleFacts& facts);

}  // namespace anyperf::agent
