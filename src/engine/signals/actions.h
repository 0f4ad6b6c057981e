// actions.h: the application's actions for signals, and the signals that the engine needs itself. install.h sets
// actions in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"
#include "engine/freestanding/signal_set.h"

namespace anyperf::engine {

/// struct sigaction as rt_sigaction(2) has it.
struct SignalAction {
    std::uint64_t handler = 0;  ///< 0 SIG_DFL, 1 SIG_IGN
    std::uint64_t flags = 0;
    std::uint64_t restorer = 0;
    std::uint64_t mask = 0;

    bool has_handler() const { return handler > 1; }
    bool is_ignored() const { return handler == 1; }
};

/// The signals that faults raise: kEngineSignals, SIGILL and SIGFPE. They have the engine's handler in the kernel even
/// if the application ignores them or leaves them to their default, because after a fault the engine must uncount what
/// it counted in advance.
inline constexpr std::uint64_t kAlwaysCaughtSignals = kEngineSignals | signal_bit(4) | signal_bit(8);

inline constexpr int kKillSignal = 9;       ///< SIGKILL
inline constexpr int kChildSignal = 17;     ///< SIGCHLD
inline constexpr int kContinueSignal = 18;  ///< SIGCONT

/// SIGKILL and SIGSTOP (sigprocmask(2)).
inline constexpr std::uint64_t kNeverBlockedSignals = signal_bit(kKillSignal) | signal_bit(19);
/// Signals whose default is to be ignored: SIGCHLD, SIGCONT, SIGURG, SIGWINCH (signal(7)).
inline constexpr std::uint64_t kIgnoredByDefault =
    signal_bit(kChildSignal) | signal_bit(kContinueSignal) | signal_bit(23) | signal_bit(28);
/// Signals whose default is to stop the process: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU (signal(7)).
inline constexpr std::uint64_t kStoppingByDefault = signal_bit(19) | signal_bit(20) | signal_bit(21) | signal_bit(22);

/// The table of actions of a process, or of all tasks that share one by CLONE_SIGHAND. It has its own lock.
class SignalActions {
  public:
    SignalAction get(int signal) {
        const LockGuard held{lock_};
        return actions_[signal];
    }
    void set(int signal, const SignalAction& action) {
        const LockGuard held{lock_};
        actions_[signal] = action;
        const std::uint64_t others = ignored_ & ~signal_bit(signal);
        __atomic_store_n(&ignored_, action.is_ignored() ? others | signal_bit(signal) : others, __ATOMIC_RELAXED);
        const std::uint64_t other_handlers = caught_ & ~signal_bit(signal);
        __atomic_store_n(&caught_, action.has_handler() ? other_handlers | signal_bit(signal) : other_handlers,
                         __ATOMIC_RELAXED);
    }
    /// The signals that are ignored. The signal handler may call it: it takes no lock.
    std::uint64_t ignored() const { return __atomic_load_n(&ignored_, __ATOMIC_RELAXED); }
    /// The signals that have a handler.
    std::uint64_t caught() const { return __atomic_load_n(&caught_, __ATOMIC_RELAXED); }
    /// Where a tracer finds them in the memory of its tracee.
    static constexpr std::size_t offset_of_caught();
    void copy_from(SignalActions& other) {
        const LockGuard held{other.lock_};
        for (int i = 0; i <= kSignals; ++i) actions_[i] = other.actions_[i];
        ignored_ = other.ignored_;
        caught_ = other.caught_;
    }
    /// Held over a fork, so that the child's copy is consistent; the child resets the lock.
    void lock_for_fork() { lock_.lock(); }
    void unlock_after_fork() { lock_.unlock(); }
    void reset_lock() { lock_.reset(); }

  private:
    Lock lock_;
    SignalAction actions_[kSignals + 1];
    std::uint64_t ignored_ = 0;
    std::uint64_t caught_ = 0;
};

constexpr std::size_t SignalActions::offset_of_caught() {
    return offsetof(SignalActions, caught_);
}

}  // namespace anyperf::engine
