// Concurrent threads: contended atomics, futex hand-over in a ring, a thread that ends the whole process.
#include "tiny_thread.h"

enum { kThreads = 6, kRounds = 300 };
static char stacks[kThreads][16384] __attribute__((aligned(16)));
static volatile int alive[kThreads], turn, lock;
static volatile u64 plain, atomic;

static void acquire(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) sys(__NR_sched_yield);
}

static int work(void* argument) {
    const int me = (int)(u64)argument;
    for (int i = 0; i < kRounds; ++i) {
        __atomic_fetch_add(&atomic, 1, __ATOMIC_RELAXED);
        acquire();
        plain = plain + 1;
        __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    for (int i = 0; i < 20; ++i) {
        int now;
        while ((now = turn) % kThreads != me) sys(__NR_futex, &turn, FUTEX_WAIT, now, 0);
        turn = now + 1;
        sys(__NR_futex, &turn, FUTEX_WAKE, 1000);
    }
    return 0;
}

static int ends_all(void* argument) {
    (void)argument;
    nap_ms(10);
    exit_program(23);
}

int program(int argc, char** argv, char** envp) {
    for (int i = 0; i < kThreads; ++i) {
        alive[i] = 1;
        must(start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, work, (void*)(u64)i, stacks[i] + sizeof stacks[i], &alive[i], 0) > 0, "clone");
    }
    for (int i = 0; i < kThreads; ++i) wait_cleared(&alive[i]);
    say("atomic", atomic);
    say("plain", plain);
    say("turns", (u64)turn);
    start_thread(kThreadFlags, ends_all, 0, stacks[0] + sizeof stacks[0], 0, 0);
    for (;;) sys(__NR_pause);
}
