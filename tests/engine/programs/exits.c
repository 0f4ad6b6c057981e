// How processes exit: exit of the last thread, of the leader while another thread runs, exit_group with a large status,
// execve from a thread, a fatal signal.
#include "tiny_thread.h"

static char stack[16384] __attribute__((aligned(16)));

/// The last thread to exit gives the status (synchronize_group_exit() in the kernel's exit.c), so it waits for the
/// others, also on a machine that is busy.
static int outlives(void* status) {
    nap_ms(300);
    return (int)(u64)status;
}

static int execs(void* argv) {
    char** arguments = argv;
    char* next[] = {arguments[0], "from a thread", 0};
    char* none[] = {0};
    sys(__NR_execve, arguments[0], next, none);
    return 96;
}

static void end(int how, char** argv) {
    if (how == 0) sys(__NR_exit, 3);
    if (how == 1) {
        start_thread(kThreadFlags, outlives, (void*)8, stack + sizeof stack, 0, 0);
        sys(__NR_exit, 4);
    }
    if (how == 2) sys(__NR_exit_group, 0x12345);
    if (how == 3) {
        start_thread(kThreadFlags, execs, argv, stack + sizeof stack, 0, 0);
        for (;;) sys(__NR_pause);
    }
    if (how == 4) {
        start_thread(kThreadFlags, outlives, (void*)8, stack + sizeof stack, 0, 0);
        *(volatile int*)24 = 1;
    }
}

int program(int argc, char** argv, char** envp) {
    (void)envp;
    if (argc > 1) {
        say("leader", sys(__NR_getpid) == sys(__NR_gettid));
        return 33;
    }
    struct {
        u64 now, most;
    } none = {0, 0};
    sys(__NR_setrlimit, 4, &none);
    for (int how = 0; how < 5; ++how) {
        flush();
        const long child = sys(__NR_fork);
        if (child == 0) end(how, argv);
        say("status", (u64)wait_status(child));
    }
    return 0;
}
