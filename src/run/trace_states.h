// trace_states.h: what a process of the run that traces another one (ptrace(2)) has asked of each thread that it
// traces; in the run memory. The engine of the traced thread makes the stops at system calls and for signals
// (engine/tracee_stops.h); the kernel makes all others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/shown_ports.h"

namespace anyperf::run {

/// si_code of the SIGTRAP by which a thread stops at a system call, or for a signal. Only its tracer sees it.
inline constexpr std::int32_t kTraceeStopCode = -7324;
/// si_code of a SIGTRAP in the place of a signal whose stop the tracer has not seen yet (engine/tracee_stops.h).
inline constexpr std::int32_t kStoppedSignalCode = -7325;

/// Bits of the state of a thread. The tracer's engine writes them while the thread is stopped.
namespace trace {
inline constexpr std::uint32_t kAtCalls = 1;     ///< continued by PTRACE_SYSCALL: stops before and after each call
inline constexpr std::uint32_t kMarked = 2;      ///< these stops are marked (PTRACE_O_TRACESYSGOOD)
inline constexpr std::uint32_t kInCall = 4;      ///< the end of the call that the thread is in is to be a stop
inline constexpr std::uint32_t kAtSignals = 8;   ///< stops before a signal is delivered
inline constexpr std::uint32_t kHasPassed = 16;  ///< the kernel's next stop is for a signal that the tracer has passed
inline constexpr std::uint32_t kSteps = 32;      ///< the thread stops after its next instruction (PTRACE_SINGLESTEP)
inline constexpr std::uint32_t kOwnTrapFlag = 64;    ///< the application has set its trap flag, so it outlives a step
inline constexpr std::uint32_t kDebugChanged = 128;  ///< the tracer has changed debug registers
inline constexpr std::uint32_t kInterrupted = 256;   ///< is to stop at the next safepoint (PTRACE_INTERRUPT)
}  // namespace trace

struct TraceStates {
    std::uint32_t of_page[kMaximumThreadPages];  ///< by the number of the thread's page
};

/// Where they are in the run memory: before the shown ports.
inline constexpr std::size_t kTraceStatesOffset = kShownPortsOffset - (sizeof(TraceStates) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kTraceStatesOffset);

}  // namespace anyperf::run
