// engine_signals.h: recognises the signals that interrupt a thread for the engine: those of the broker, of the engine
// itself, of the agent's timers and of the agent's kernel events. The application never sees these signals.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/signal_frame.h"
#include "run/run_state.h"

namespace anyperf::engine {

inline constexpr std::int32_t kTrap = 5;   ///< SIGTRAP, the number of all these signals
inline constexpr std::int32_t kSegv = 11;  ///< SIGSEGV

inline constexpr std::int32_t kTrapTrace = 2;  ///< TRAP_TRACE, the si_code of a SIGTRAP by the trap flag

inline constexpr std::int32_t kTrapBreakpoint = 4;  ///< TRAP_HWBKPT, that of a debug register

/// Whether the broker requests a safepoint, or a flush needs this thread outside of translated code.
inline bool is_safepoint_request(const x86_64::SignalInfo& info) {
    return info.signo == kTrap && info.code == run::kSafepointSignalCode;
}

/// Whether the agent's timer of this thread has expired.
inline bool is_alarm(const x86_64::SignalInfo& info) {
    constexpr std::int32_t kByTimer = -2;  // SI_TIMER
    std::uint64_t value = 0;
    __builtin_memcpy(&value, info.rest, sizeof value);
    return info.signo == kTrap && info.code == kByTimer && value == run::kAlarmValue;
}

/// Whether the signal reports a page fault (agent/faults/fault_traps.h): the interrupted instruction has faulted at
/// si_addr. The kernel has handled the fault, and the thread is about to repeat the instruction.
inline bool is_fault_trap(const x86_64::SignalInfo& info) {
    std::uint64_t data = 0;  // si_perf_data
    __builtin_memcpy(&data, info.rest, sizeof data);
    return info.signo == kTrap && info.code == run::kTrapPerf && data == run::kFaultTrapData;
}

/// Whether the fault trap came late, because SIGTRAP was blocked. Then the thread may be at another instruction.
inline bool is_late(const x86_64::SignalInfo& fault_trap) {
    std::uint32_t flags = 0;  // si_perf_flags: TRAP_PERF_FLAG_ASYNC
    __builtin_memcpy(&flags, fault_trap.rest + 12, sizeof flags);
    return flags != 0;
}

}  // namespace anyperf::engine
