// waiting.h: how a verb waits until its command ends, an observed process ends, a signal arrives, or a deadline passes,
// whichever comes first.
//
// Signals are blocked and read from a signalfd(2), so that no handler runs and no signal is lost between the check and
// the wait. Processes are awaited by pidfd_open(2). All of that is one ppoll(2).
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

/// Nanoseconds of CLOCK_MONOTONIC.
std::uint64_t now_ns();

/// Whether the signal also ends a series of runs. True for the signals by which users and systems end a program
/// (SIGINT, SIGQUIT, SIGTERM, SIGHUP). SIGUSR1 and the like may mean anything to the command.
bool ends_a_series(int signal);

/// While it lives, SIGCHLD and the signals that would end this process are blocked; next() returns them one by one.
/// Create it before any fork or thread, because both inherit the signal mask. (The threads of a hosted run block all
/// signals anyway.) A signal that was ignored when anyperf started (as under nohup(1)) stays ignored. Move-only.
class BlockedSignals {
  public:
    /// Blocks the signals. Error: no descriptor is left for the signalfd.
    static Result<BlockedSignals> block();
    BlockedSignals(BlockedSignals&& other) noexcept;
    BlockedSignals& operator=(BlockedSignals&&) = delete;
    /// Discards pending signals, which would otherwise end this process here, and restores the mask.
    ~BlockedSignals();

    /// Restores the signal mask and SIGCHLD's disposition from before block(). A forked child calls it before exec. In
    /// this process the destructor calls it.
    void restore() const;
    /// The signalfd: readable while a signal is pending.
    int fd() const { return fd_; }

    struct Arrived {
        int number = 0;
        bool from_terminal = false;  ///< sent by the kernel: the command, in the same process group, got it as well
    };
    /// Takes the next pending signal, or returns nothing. SIGCHLD only ends the wait: it is taken, but not returned.
    std::optional<Arrived> next();

  private:
    BlockedSignals() = default;

    sigset_t outer_{};                    ///< the mask before block()
    struct sigaction outer_child_{};      ///< SIGCHLD's disposition before block()
    struct sigaction outer_interrupt_{};  ///< SIGINT's
    int fd_ = -1;
};

/// Processes and threads that anyperf has not started, and whose end a verb awaits.
class AwaitedTasks {
  public:
    /// `ids` are pids or tids. An id that no longer exists counts as ended.
    explicit AwaitedTasks(std::span<const pid_t> ids);
    AwaitedTasks(const AwaitedTasks&) = delete;
    AwaitedTasks& operator=(const AwaitedTasks&) = delete;
    ~AwaitedTasks();

    /// Whether at least one of them still runs. Forgets those that have ended.
    bool any_alive();
    /// The pidfds. Each becomes readable when its process ends.
    std::span<const int> fds() const { return fds_; }
    /// Whether some task has no pidfd, so that the caller has to call any_alive() from time to time. pidfd_open(2)
    /// without PIDFD_THREAD (Linux 6.9) accepts thread group leaders only.
    bool must_poll() const { return !threads_.empty(); }

  private:
    std::vector<int> fds_;
    std::vector<pid_t> threads_;  ///< tasks without a pidfd
};

/// Waits until `deadline_ns` (in the time of now_ns(); no value: no deadline), until a signal is pending (also the
/// SIGCHLD of the command's end), until an awaited process ends, or until one of `also_fds` is readable (-1 is
/// skipped). May return early.
void wait_for_wakeup(const BlockedSignals& signals, const AwaitedTasks& awaited,
                     std::optional<std::uint64_t> deadline_ns, std::initializer_list<int> also_fds = {});

}  // namespace anyperf::cli
