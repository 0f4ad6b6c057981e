// memory_facts.h: the fields of a precise event's samples that describe a memory access: ADDR, DATA_SRC, WEIGHT and
// DATA_PAGE_SIZE.
//
// The address, and whether the instruction loads or stores, come from its code and registers. Where the line was, the
// TLBs' results and the latency come from the models of caches. An event whose samples have them starts the models
// (Source::needs_accesses). They note what the last instruction accessed (engine/modelling/modelling.h,
// note_accesses()), which runs by itself before a precise event overflows.
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
