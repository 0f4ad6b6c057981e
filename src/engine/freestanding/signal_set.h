// signal_set.h: sets of signals as rt_sigprocmask(2) takes them, and the set that the engine needs itself.
#pragma once

#include <cstdint>

namespace anyperf::engine {

inline constexpr int kSignals = 64;

constexpr std::uint64_t signal_bit(int signal) {
    return std::uint64_t{1} << (signal - 1);
}

/// SIGSEGV, SIGBUS and SIGTRAP. The engine needs them, so the kernel never blocks them, whatever the application
/// requests: a fault while its signal is blocked ends the process.
inline constexpr std::uint64_t kEngineSignals = signal_bit(11) | signal_bit(7) | signal_bit(5);

}  // namespace anyperf::engine
