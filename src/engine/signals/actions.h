// actions.h: what the application wants done with each signal. The kernel's handlers are all the engine's; what is
// ignored or left to its default is so in the kernel too, where children, stops and deaths are decided.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"

namespace anyperf::engine {

inline constexpr int kSignals = 64;

/// struct sigaction as the system call has it.
struct SignalAction {
    std::uint64_t handler = 0;  ///< 0 SIG_DFL, 1 SIG_IGN
    std::uint64_t flags = 0;
    std::uint64_t restorer = 0;
    std::uint64_t mask = 0;

    bool has_handler() const { return handler > 1; }
};

constexpr std::uint64_t signal_bit(int signal) {
    return std::uint64_t{1} << (signal - 1);
}

/// Signals by which the engine itself learns of things: they are never blocked in the kernel, whatever the application
/// asks, because a fault while blocked kills.
inline constexpr std::uint64_t kEngineSignals = (std::uint64_t{1} << (11 - 1)) | (std::uint64_t{1} << (7 - 1)) |
                                                (std::uint64_t{1} << (5 - 1));  // SIGSEGV, SIGBUS, SIGTRAP

/// Signals that always have a handler of ours: faults, which undo what their block has counted in advance.
inline constexpr std::uint64_t kHandledSignals = kEngineSignals | signal_bit(4) | signal_bit(8);  // SIGILL, SIGFPE

/// The table of a thread group (or of all that share one by CLONE_SIGHAND).
class SignalActions {
  public:
    SignalAction get(int signal) {
        const Held held{lock_};
        return actions_[signal];
    }
    void set(int signal, const SignalAction& action) {
        const Held held{lock_};
        actions_[signal] = action;
    }
    void copy_from(SignalActions& other) {
        const Held held{other.lock_};
        for (int i = 0; i <= kSignals; ++i) actions_[i] = other.actions_[i];
    }
    void reset_lock() { lock_.reset(); }

  private:
    Lock lock_;
    SignalAction actions_[kSignals + 1];
};

/// Makes the kernel do with `signal` what `action` needs: our handler, SIG_IGN or SIG_DFL. The kernel's answer.
long install(int signal, const SignalAction& action);

/// What has a handler goes back to its default (clone3(2), CLONE_CLEAR_SIGHAND).
void clear_handlers(SignalActions& actions);

}  // namespace anyperf::engine
