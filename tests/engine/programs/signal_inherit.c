// Signal state across fork and execve: fork keeps handlers, execve keeps ignored signals (those of faults as well) and the
// mask; pending signals are not inherited by a child.
#include "tiny.h"

static void handler(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    say("handled", (u64)signal);
}

static u64 disposition(int signal) {
    struct action action = {0};
    sys(__NR_rt_sigaction, signal, 0, &action, 8);
    return (u64)action.handler < 2 ? (u64)action.handler : 2;
}

// Not SIGTRAP: a tracer's single step makes an ignored one the default.
static const int kOfFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

static void after_exec(void) {
    for (unsigned i = 0; i < 4; ++i) {
        say("ignored signal of faults", disposition(kOfFaults[i]));
        raise_here(kOfFaults[i]);
    }
}

int program(int argc, char** argv, char** envp) {
    if (argc > 1) {
        after_exec();
        say("ignored", disposition(SIGUSR1));
        say("was handled", disposition(SIGUSR2));
        say("mask", change_mask(SIG_BLOCK, 0));
        u64 pending = 0;
        sys(__NR_rt_sigpending, &pending, 8);
        say("pending", pending);
        return 4;
    }
    struct action ignore = {(handler_t)(u64)1, 0, 0, 0};
    sys(__NR_rt_sigaction, SIGUSR1, &ignore, 0, 8);
    for (unsigned i = 0; i < 4; ++i) sys(__NR_rt_sigaction, kOfFaults[i], &ignore, 0, 8);
    on_signal(SIGUSR2, handler, 0, 0);
    change_mask(SIG_BLOCK, MASK_OF(SIGHUP) | MASK_OF(SIGALRM));
    raise_here(SIGHUP);
    const long child = sys(__NR_fork);
    if (child == 0) {
        u64 pending = 0;
        sys(__NR_rt_sigpending, &pending, 8);
        say("pending in child", pending);
        raise_here(SIGUSR2);
        raise_here(SIGUSR1);
        raise_here(SIGALRM);
        flush();
        char* arguments[] = {argv[0], "again", 0};
        sys(__NR_execve, argv[0], arguments, envp);
        exit_program(98);
    }
    say("child", (u64)wait_status(child));
    return 0;
}
