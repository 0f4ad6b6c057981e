// Threads that end before their creator goes on: the word that CLONE_PARENT_SETTID and CLONE_CHILD_CLEARTID share, as
// libc's, is 0 once the thread has gone. All run on one CPU, where the kernel often runs a new thread first.
#include "tiny_thread.h"

enum { kThreads = 300 };

static volatile int word;
static char stack[65536] __attribute__((aligned(16)));

/// A thread that ends at once. The kernel writes its id to `word` before it begins, and 0 when it has ended.
long start_ending(u64 flags, char* top, volatile int* word);
__asm__(
    ".text\n"
    "start_ending:\n mov %rdx,%r10\n mov $56,%eax\n syscall\n test %eax,%eax\n jz 1f\n ret\n"
    "1: xor %edi,%edi\n mov $60,%eax\n syscall\n ud2\n");

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    u64 cpus[16] = {0};
    must(sys(__NR_sched_getaffinity, 0, sizeof cpus, cpus) > 0, "sched_getaffinity");
    cpus[0] &= -cpus[0];
    sys(__NR_sched_setaffinity, 0, sizeof(u64), cpus);
    int cleared = 0, named = 0;
    for (int i = 0; i < kThreads; ++i) {
        word = -1;
        const u64 flags = kThreadFlags | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
        const long tid = start_ending(flags, stack + sizeof stack, &word);
        must(tid > 0, "clone");
        while (sys(__NR_tgkill, sys(__NR_getpid), tid, 0) == 0) sys(__NR_sched_yield);
        cleared += word == 0;
        named += word == tid;
    }
    say("cleared", (u64)cleared);
    say("named", (u64)named);
    return 0;
}
