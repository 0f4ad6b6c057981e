// signal_forwarding.cpp: the signal handler that forwards, and its installation.
#include "broker/launch/signal_forwarding.h"

#include <atomic>
#include <cerrno>

namespace anyperf::broker {

namespace {

std::atomic<pid_t> the_child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);  // the handler reads it

/// The signal handler. It forwards only signals of kill(2) and the like: their si_code is 0 or negative. Signals of the
/// kernel, among them those of the terminal, have a positive one (sigaction(2)).
void forward_signal(int signal, siginfo_t* info, void*) {
    const int saved = errno;
    if (info->si_code <= 0) ::kill(the_child.load(), signal);
    errno = saved;
}

}  // namespace

SignalForwarder::SignalForwarder() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int signal : kSignals) ::sigaddset(&held, signal);
    ::sigprocmask(SIG_BLOCK, &held, &mask_);
    // With SIGCHLD ignored the kernel would discard the command's exit status (wait(2)).
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &standard, &child_ends_);
}

void SignalForwarder::forward_to(pid_t child) {
    the_child = child;
    struct sigaction action{};
    action.sa_sigaction = forward_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        ::sigaction(kSignals[i], nullptr, &actions_[i]);
        if (actions_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
    }
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

void SignalForwarder::restore() const {
    ::sigaction(SIGCHLD, &child_ends_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

SignalForwarder::~SignalForwarder() {
    if (the_child.exchange(0) != 0)
        for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_[i], nullptr);
    restore();
}

}  // namespace anyperf::broker
