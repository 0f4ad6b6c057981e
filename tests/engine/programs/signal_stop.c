// SIGSTOP and SIGCONT: the parent sees both, and the child continues where it stopped, also in a blocking call.
#include "tiny.h"

int program(int argc, char** argv, char** envp) {
    int ends[2];
    sys(__NR_pipe2, ends, 0);
    long child = sys(__NR_fork);
    if (child == 0) {
        raise_here(SIGSTOP);
        char byte;
        const long got = sys(__NR_read, ends[0], &byte, 1);
        sys(__NR_exit_group, got == 1 ? 5 : 6);
    }
    int status = 0;
    sys(__NR_wait4, child, &status, WUNTRACED, 0);
    say("stopped", (u64)status);
    sys(__NR_kill, child, SIGCONT);
    sys(__NR_wait4, child, &status, WCONTINUED, 0);
    say("continued", (u64)status);
    nap_ms(50);
    sys(__NR_kill, child, SIGSTOP);
    sys(__NR_wait4, child, &status, WUNTRACED, 0);
    say("stopped in read", (u64)status);
    sys(__NR_kill, child, SIGCONT);
    nap_ms(20);
    sys(__NR_write, ends[1], "x", 1);
    say("ended", (u64)wait_status(child));
    return 0;
}
