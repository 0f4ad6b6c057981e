// A handler on the alternate stack raises its own signal again and again: the signal whose frame does not fit on that
// stack is a SIGSEGV, and nothing is written below the stack.
#include "tiny.h"

struct shared {
    char below[65536];
    char stack[32768];
    u64 depth;
};
static struct shared* shared;

static void handler(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    ++shared->depth;
    raise_here(signal);
}

static void fill(void) {
    stack_t mine = {shared->stack, 0, sizeof shared->stack};
    sys(__NR_sigaltstack, &mine, 0);
    on_signal(SIGUSR1, handler, SA_ONSTACK | SA_NODEFER, 0);
    raise_here(SIGUSR1);
    exit_program(0);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    shared = (struct shared*)sys(__NR_mmap, 0, sizeof *shared, 3, 0x21, -1, 0);  // MAP_SHARED | MAP_ANONYMOUS
    const long child = sys(__NR_fork);
    if (child == 0) fill();
    int status = 0;
    sys(__NR_wait4, child, &status, 0, 0);
    say("status", (u64)status);
    say("depth", shared->depth);
    u64 written = 0;
    for (u64 i = 0; i < sizeof shared->below; ++i) written += shared->below[i] != 0;
    say("written below", written);
    return 0;
}
