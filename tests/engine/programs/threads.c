// Threads by clone on new stacks, each with its own fs base, one after the other; each does a known amount of work.
#include "tiny_thread.h"

enum { kThreads = 8 };
static struct { u64 self, number, sum; } areas[kThreads];
static char stacks[kThreads][16384] __attribute__((aligned(16)));
static volatile int alive[kThreads];
static volatile u64 total;

static int work(void* argument) {
    u64 own = (u64)argument, number = 0;
    __asm__ volatile("mov %%fs:8,%0" : "=r"(number));
    must(number == own, "fs is this thread's");
    for (u64 i = 0; i < 100 * (own + 1); ++i) {
        __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
        __asm__ volatile("incq %%fs:16" : : : "memory");
    }
    return 0;
}

int program(int argc, char** argv, char** envp) {
    sys(__NR_arch_prctl, ARCH_SET_FS, &areas[0]);
    for (int i = 0; i < kThreads; ++i) {
        areas[i].self = (u64)&areas[i];
        areas[i].number = (u64)i;
        alive[i] = 1;
        must(start_thread(kThreadFlags | CLONE_CHILD_CLEARTID | CLONE_SETTLS, work, (void*)(u64)i, stacks[i] + sizeof stacks[i], &alive[i], &areas[i]) > 0, "clone");
        wait_cleared(&alive[i]);  // one after the other: their counts are exact
    }
    say("total", total);
    for (int i = 0; i < kThreads; ++i) say("sum", areas[i].sum);
    return 0;
}
