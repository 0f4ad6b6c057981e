// What fork and execve keep of signals: handlers over fork, ignored ones and the mask over execve, pending for nobody else.
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

int program(int argc, char** argv, char** envp) {
    if (argc > 1) {
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
        leave(98);
    }
    say("child", (u64)wait_status(child));
    return 0;
}
