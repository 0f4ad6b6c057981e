// signals.cpp: see signals.h.
#include "broker/signals.h"

#include <atomic>
#include <cerrno>

namespace anyperf::broker {

namespace {

std::atomic<pid_t> the_child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);  // the handler writes it

/// Runs as a signal handler. The kernel's own (the terminal's among them) have a positive code, those of kill(2) not.
void hand_on(int signal, siginfo_t* info, void*) {
    const int saved = errno;
    if (info->si_code <= 0) ::kill(the_child.load(), signal);
    errno = saved;
}

}  // namespace

SignalsForCommand::SignalsForCommand() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int signal : kSignals) ::sigaddset(&held, signal);
    ::sigprocmask(SIG_BLOCK, &held, &mask_);
    // An ignored SIGCHLD would let the kernel throw the command's exit status away.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &standard, &child_ends_);
}

void SignalsForCommand::hand_on_to(pid_t child) {
    the_child = child;
    struct sigaction action{};
    action.sa_sigaction = hand_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        ::sigaction(kSignals[i], nullptr, &actions_[i]);
        if (actions_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
    }
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

void SignalsForCommand::restore() const {
    ::sigaction(SIGCHLD, &child_ends_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

SignalsForCommand::~SignalsForCommand() {
    if (the_child.exchange(0) != 0)
        for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_[i], nullptr);
    restore();
}

}  // namespace anyperf::broker
