// own_signals.h: the signals that the engine sends itself or lets the kernel send, and that no application sees.
#pragma once

#include <cstdint>

#include "engine/run_state.h"
#include "engine/x86_64/signal_frame.h"

namespace anyperf::engine {

inline constexpr std::int32_t kTrap = 5;   ///< SIGTRAP, which carries them
inline constexpr std::int32_t kSegv = 11;  ///< SIGSEGV

inline constexpr std::int32_t kTrapTrace = 2;  ///< TRAP_TRACE, a code of SIGTRAP: the trap flag

/// Somebody wants the thread to look before it goes on.
inline bool is_attention(const x86_64::SignalInfo& info) {
    return info.signo == kTrap && info.code == kAttentionCode;
}

/// A timer of ours, that the application knows nothing of.
inline bool is_alarm(const x86_64::SignalInfo& info) {
    constexpr std::int32_t kByTimer = -2;  // SI_TIMER
    std::uint64_t value = 0;
    __builtin_memcpy(&value, info.rest, sizeof value);
    return info.signo == kTrap && info.code == kByTimer && value == kAlarmValue;
}

}  // namespace anyperf::engine
