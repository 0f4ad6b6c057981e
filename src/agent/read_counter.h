// read_counter.h: the rdpmc instruction, by which a thread reads the counters of its own events without a system call
// (perf_event_open(2), cap_user_rdpmc). The header page of a mapped event says which counter is the event's: its number
// in the run, plus 1.
#pragma once

#include <cstdint>

#include "agent/process.h"

namespace anyperf::agent {

/// The value of counter `number`: that of its event's source. The header's offset plus this value is the count, as
/// read(2) returns it. From then on translated code reads the counter, if it can (engine/x86_64/cpu/readable.h). False,
/// and Linux lets the instruction fault: it is not the counter of an event that this thread counts and that is mapped,
/// or events of several threads contribute to it, or the PMU's file `rdpmc` permits no thread to read counters. If the
/// file permits it always, the event need not be mapped, and a counter that no event uses is 0.
bool read_counter(engine::Thread& thread, std::uint32_t number, std::uint64_t& value);

}  // namespace anyperf::agent
