// memory_facts.h: the fields of a precise event's samples that describe a memory access: ADDR, DATA_SRC and their like.
// Only the address and whether it is loaded or stored are known; the run models no cache level, latency or TLB.
#pragma once

#include "agent/process.h"
#include "subsystem/shared/sample.h"

namespace anyperf::agent {

/// Whether the event is precise (precise_ip) and its samples have a field about memory.
bool samples_memory(const EventPage& event);

/// Fills in the fields about memory from what the thread's last instruction accessed (AgentState::last_accesses).
/// Leaves them as they are if it accessed nothing that the event counts.
void add_memory_facts(const engine::Thread& thread, const EventPage& event, subsystem::SampleFacts& facts);

}  // namespace anyperf::agent
