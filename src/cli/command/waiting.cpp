// waiting.cpp: the signalfd, the pidfds, and the one ppoll(2) over both.
//
// Signals are blocked and read from a descriptor. A handler could interrupt the reading of counters at any point, and
// may call few functions. With the descriptor, the loop treats a signal as any other event, and no signal is lost
// between a check and the wait.
//
// The end of other processes shows in their pidfds (pidfd_open(2), Linux 5.3). Threads have no pidfd before Linux 6.9,
// so they are looked for in /proc at intervals.
#include "cli/command/waiting.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <string>
#include <utility>

namespace anyperf::cli {

namespace {

// The signals that end a process by default and that someone may send to anyperf to end it. Synchronous ones (SIGSEGV)
// are not among them: blocking them would hide bugs.
constexpr std::array kTerminating{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
constexpr std::array kEndingSeries{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kPollInterval = 50'000'000;  // ns between two looks at tasks without a pidfd

/// Whether the disposition of the signal is SIG_IGN, which exec passes on.
bool ignored(int signal) {
    struct sigaction action{};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// /proc/TID exists for every thread, although readdir of /proc shows only thread group leaders (proc(5)). It also
/// exists for a thread that has ended and has not been waited for: its state is Z (zombie) or X (dead). The state
/// follows the name, which is in parentheses and may contain any character.
bool thread_lives(pid_t tid) {
    std::ifstream file{"/proc/" + std::to_string(tid) + "/stat"};
    std::string text;
    if (!std::getline(file, text, '\0')) return false;
    const auto name_end = text.rfind(") ");
    return name_end != std::string::npos && text.find_first_of("ZX", name_end) != name_end + 2;
}

}  // namespace

bool ends_a_series(int signal) {
    return std::ranges::find(kEndingSeries, signal) != kEndingSeries.end();
}

std::uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

Result<BlockedSignals> BlockedSignals::block() {
    BlockedSignals signals;
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGCHLD);
    // A shell starts the background jobs of a script with SIGINT ignored. `kill -INT` ends a recording all the same, as
    // perf's: nothing else would end it with a valid file.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGINT, nullptr, &signals.outer_interrupt_);
    ::sigaddset(&blocked, SIGINT);
    for (const int signal : kTerminating)
        if (!ignored(signal)) ::sigaddset(&blocked, signal);
    // If SIGCHLD were ignored, the kernel would reap the command itself and discard its exit status (wait(2), NOTES).
    ::sigaction(SIGCHLD, &standard, &signals.outer_child_);
    ::sigprocmask(SIG_BLOCK, &blocked, &signals.outer_);
    ::sigaction(SIGINT, &standard, nullptr);
    signals.fd_ = ::signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals.fd_ < 0)
        return std::unexpected(Error{"cannot wait for signals", "signalfd: no descriptor is left",
                                     "raise the limit on open descriptors (ulimit -n)"});
    return signals;
}

BlockedSignals::BlockedSignals(BlockedSignals&& other) noexcept
    : outer_(other.outer_),
      outer_child_(other.outer_child_),
      outer_interrupt_(other.outer_interrupt_),
      fd_(std::exchange(other.fd_, -1)) {}

BlockedSignals::~BlockedSignals() {
    if (fd_ < 0) return;
    while (next()) {
    }  // discards the pending signals, which restore() must not deliver
    ::close(fd_);
    restore();
}

void BlockedSignals::restore() const {
    ::sigaction(SIGCHLD, &outer_child_, nullptr);
    ::sigaction(SIGINT, &outer_interrupt_, nullptr);
    ::sigprocmask(SIG_SETMASK, &outer_, nullptr);
}

std::optional<BlockedSignals::Arrived> BlockedSignals::next() {
    signalfd_siginfo info{};
    while (::read(fd_, &info, sizeof info) == sizeof info)
        // A positive si_code is the kernel's, as for Ctrl-C (SI_KERNEL); kill(2) and sigqueue(3) give 0 or less.
        if (info.ssi_signo != SIGCHLD) return Arrived{static_cast<int>(info.ssi_signo), info.ssi_code > 0};
    return std::nullopt;
}

AwaitedTasks::AwaitedTasks(std::span<const pid_t> ids) {
    for (const pid_t id : ids) {
        const long fd = ::syscall(SYS_pidfd_open, id, 0);
        if (fd >= 0)
            fds_.push_back(static_cast<int>(fd));
        else  // not a thread group leader; or ended, which any_alive() will find; or no pidfd_open (before Linux 5.3)
            threads_.push_back(id);
    }
}

AwaitedTasks::~AwaitedTasks() {
    for (const int fd : fds_) ::close(fd);
}

bool AwaitedTasks::any_alive() {
    // A pidfd polls as readable once the process has ended, even if it is not reaped yet; /proc/TID exists until then.
    std::erase_if(fds_, [](int fd) {
        pollfd one{fd, POLLIN, 0};
        if (::poll(&one, 1, 0) <= 0) return false;
        ::close(fd);
        return true;
    });
    std::erase_if(threads_, [](pid_t tid) { return !thread_lives(tid); });
    return !fds_.empty() || !threads_.empty();
}

void wait_for_wakeup(const BlockedSignals& signals, const AwaitedTasks& awaited,
                     std::optional<std::uint64_t> deadline_ns, std::initializer_list<int> also_fds) {
    std::vector<pollfd> fds{{signals.fd(), POLLIN, 0}};
    for (const int fd : also_fds) fds.push_back({fd, POLLIN, 0});  // poll ignores negative descriptors
    for (const int fd : awaited.fds()) fds.push_back({fd, POLLIN, 0});
    // SIGCHLD makes the signalfd readable, so the end of the command needs no descriptor of its own. Tasks without a
    // pidfd have none either, so the wait is shortened for them. An interrupted or early return is harmless: callers
    // check all conditions again.
    const std::uint64_t now = now_ns();
    if (awaited.must_poll()) deadline_ns = std::min(deadline_ns.value_or(now + kPollInterval), now + kPollInterval);
    const std::uint64_t left = deadline_ns && *deadline_ns > now ? *deadline_ns - now : 0;
    const timespec timeout{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
    ::ppoll(fds.data(), fds.size(), deadline_ns ? &timeout : nullptr, nullptr);
}

}  // namespace anyperf::cli
