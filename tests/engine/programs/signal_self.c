// Signals that a program sends to itself: order, nesting, masks, flags of sigaction, contents of siginfo.
#include "tiny.h"

static int depth;

static void handler(int signal, siginfo_t* info, void* context) {
    (void)context;
    ++depth;
    say("signal", (u64)signal);
    say(" code", (u64)(unsigned)info->si_code);
    say(" depth", (u64)depth);
    say(" own pid", info->si_pid == sys(__NR_getpid));
    say(" mask", change_mask(SIG_BLOCK, 0));
    if (signal == SIGUSR1 && depth == 1) raise_here(SIGUSR2);
    if (signal == SIGUSR1 && depth == 2) say(" again", 1);
    --depth;
}

static void recurse(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    static int left = 4;
    say("recurse", (u64)++depth);
    if (--left % 4) raise_here(signal);
    if (left == 0) left = 4;
    --depth;
}

int program(int argc, char** argv, char** envp) {
    on_signal(SIGUSR1, handler, 0, 0);
    on_signal(SIGUSR2, handler, 0, MASK_OF(SIGHUP));
    raise_here(SIGUSR1);  // SIGUSR2 nests in it
    put("with USR2 masked meanwhile\n");
    on_signal(SIGUSR1, handler, 0, MASK_OF(SIGUSR2));
    raise_here(SIGUSR1);  // SIGUSR2 comes after it
    put("nodefer\n");
    on_signal(SIGHUP, recurse, SA_NODEFER, 0);
    raise_here(SIGHUP);
    put("deferred\n");
    on_signal(SIGHUP, recurse, 0, 0);
    raise_here(SIGHUP);
    put("blocked, then lowest first\n");
    on_signal(SIGHUP, handler, 0, ~0ul);
    on_signal(SIGUSR1, handler, 0, ~0ul);
    on_signal(SIGUSR2, handler, 0, ~0ul);
    change_mask(SIG_BLOCK, MASK_OF(SIGUSR2) | MASK_OF(SIGUSR1) | MASK_OF(SIGHUP));
    depth = 5;
    raise_here(SIGUSR2);
    raise_here(SIGUSR1);
    raise_here(SIGHUP);
    raise_here(SIGHUP);  // not queued twice
    u64 pending = 0;
    sys(__NR_rt_sigpending, &pending, 8);
    say("pending", pending);
    change_mask(SIG_UNBLOCK, ~0ul);
    put("reset by delivery\n");
    depth = 7;
    on_signal(SIGUSR1, handler, SA_RESETHAND, 0);
    raise_here(SIGUSR1);
    struct action now = {0};
    sys(__NR_rt_sigaction, SIGUSR1, 0, &now, 8);
    say("default again", now.handler == 0);
    say("SIGKILL can't be handled", (u64)-on_signal(SIGKILL, handler, 0, 0));
    return 0;
}
