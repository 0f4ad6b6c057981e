// trace_states.h: what a process of the run that traces another one (ptrace(2)) has asked of each thread that it
// traces; in the run memory. The kernel makes all stops but those at system calls: the engine of the traced thread
// makes these (engine/call_stops.h), because the kernel would stop at the engine's own calls as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/shown_ports.h"

namespace anyperf::run {

/// si_code of the SIGTRAP by which a thread stops at a system call. Only its tracer sees it.
inline constexpr std::int32_t kCallStopCode = -7324;

/// Bits of the state of a thread. The tracer's engine writes them while the thread is stopped.
namespace trace {
inline constexpr std::uint32_t kAtCalls = 1;  ///< continued by PTRACE_SYSCALL: stops before and after each call
inline constexpr std::uint32_t kMarked = 2;   ///< these stops are marked (PTRACE_O_TRACESYSGOOD)
inline constexpr std::uint32_t kInCall = 4;   ///< the end of the call that the thread is in is to be a stop
}  // namespace trace

struct TraceStates {
    std::uint32_t of_page[kMaximumThreadPages];  ///< by the number of the thread's page
};

/// Where they are in the run memory: before the shown ports.
inline constexpr std::size_t kTraceStatesOffset = kShownPortsOffset - (sizeof(TraceStates) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kTraceStatesOffset);

}  // namespace anyperf::run
