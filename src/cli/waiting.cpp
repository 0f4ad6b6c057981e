// waiting.cpp: see waiting.h.
#include "cli/waiting.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <utility>

namespace anyperf::cli {

namespace {

constexpr std::array kEnding{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLookAgain = 50'000'000;

bool ignored(int signal) {
    struct sigaction action{};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool thread_lives(pid_t tid) {
    return ::access(("/proc/" + std::to_string(tid)).c_str(), F_OK) == 0;
}

}  // namespace

std::uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

Result<SignalGate> SignalGate::close_gate() {
    SignalGate gate;
    sigset_t held;
    ::sigemptyset(&held);
    ::sigaddset(&held, SIGCHLD);
    for (const int signal : kEnding)
        if (!ignored(signal)) ::sigaddset(&held, signal);
    // An ignored SIGCHLD would let the kernel throw the command's exit status away.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &standard, &gate.outer_child_);
    ::sigprocmask(SIG_BLOCK, &held, &gate.outer_);
    gate.fd_ = ::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
    if (gate.fd_ < 0)
        return std::unexpected(Error{"cannot wait for signals", "signalfd: no descriptor is left", "see `ulimit -n`"});
    return gate;
}

SignalGate::SignalGate(SignalGate&& other) noexcept
    : outer_(other.outer_), outer_child_(other.outer_child_), fd_(std::exchange(other.fd_, -1)) {}

SignalGate::~SignalGate() {
    if (fd_ < 0) return;
    while (next()) {
    }  // what came while it was closed has been dealt with
    ::close(fd_);
    restore();
}

void SignalGate::restore() const {
    ::sigaction(SIGCHLD, &outer_child_, nullptr);
    ::sigprocmask(SIG_SETMASK, &outer_, nullptr);
}

std::optional<SignalGate::Arrived> SignalGate::next() {
    signalfd_siginfo info{};
    while (::read(fd_, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD) return Arrived{static_cast<int>(info.ssi_signo), info.ssi_code > 0};
    return std::nullopt;
}

Watched::Watched(std::span<const pid_t> ids) {
    for (const pid_t id : ids) {
        const long fd = ::syscall(SYS_pidfd_open, id, 0);
        if (fd >= 0)
            fds_.push_back(static_cast<int>(fd));
        else
            threads_.push_back(id);
    }
}

Watched::~Watched() {
    for (const int fd : fds_) ::close(fd);
}

bool Watched::any_alive() {
    std::erase_if(fds_, [](int fd) {
        pollfd one{fd, POLLIN, 0};
        if (::poll(&one, 1, 0) <= 0) return false;
        ::close(fd);
        return true;
    });
    std::erase_if(threads_, [](pid_t tid) { return !thread_lives(tid); });
    return !fds_.empty() || !threads_.empty();
}

void wait_for_something(const SignalGate& gate, const Watched& watched, std::optional<std::uint64_t> deadline_ns) {
    std::vector<pollfd> fds{{gate.fd(), POLLIN, 0}};
    for (const int fd : watched.fds()) fds.push_back({fd, POLLIN, 0});
    const std::uint64_t now = now_ns();
    if (watched.must_poll()) deadline_ns = std::min(deadline_ns.value_or(now + kLookAgain), now + kLookAgain);
    const std::uint64_t left = deadline_ns && *deadline_ns > now ? *deadline_ns - now : 0;
    const timespec timeout{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
    ::ppoll(fds.data(), fds.size(), deadline_ns ? &timeout : nullptr, nullptr);
}

}  // namespace anyperf::cli
