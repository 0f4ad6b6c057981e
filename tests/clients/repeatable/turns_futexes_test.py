"""`anyperf run --deterministic`: futex_waitv(2), a wait for several futexes, does what the kernel does."""
import subprocess
import unittest

from repeated_runs import ANYPERF, RepeatedRuns

# Prints what each call returns. A wake is tried until it has found a thread, so the output has one value natively.
PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
struct waiter { uint64_t val, uaddr; uint32_t flags, reserved; };
enum { SHARED = 2, PRIVATE = 2 | 128 };
static uint32_t word[130];
static uint32_t* shared;  // a mapping that processes share
static struct waiter list[130];
static long result_of(long result) { return result < 0 ? -errno : result; }
static long waitv(const void* of, unsigned count, unsigned flags, const void* timeout, int clock) {
    return result_of(syscall(449, of, count, flags, timeout, clock));
}
static long futex(uint32_t* at, int operation, uint32_t value, long second, uint32_t* other, uint32_t third) {
    return result_of(syscall(SYS_futex, at, operation, value, second, other, third));
}
static void say(const char* what, long result) {
    printf("%s: %s%ld%s%s\n", what, result < 0 ? "" : "= ", result < 0 ? 0 : result, result < 0 ? " " : "", result < 0 ? strerrorname_np((int)-result) : "");
    fflush(stdout);
}
static void fill(int flags) {
    for (int i = 0; i < 130; i++) {
        word[i] = 0;
        list[i] = (struct waiter){0, (uintptr_t)&word[i], flags, 0};
    }
}
static struct timespec in(int clock, long ms) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    if (time.tv_nsec < 0) time = (struct timespec){time.tv_sec - 1, time.tv_nsec + 1000000000};
    return time;
}
static void errors(void) {
    struct timespec wrong = {0, 1000000000}, negative = {-1, 0};
    fill(PRIVATE);
    say("flags", waitv(list, 2, 1, 0, 0));
    say("none", waitv(list, 0, 0, 0, 0));
    say("too many", waitv(list, 129, 0, 0, 0));
    say("no list", waitv(0, 1, 0, 0, 0));
    say("a list that cannot be read", waitv((void*)8, 1, 0, 0, 0));
    say("nanoseconds", waitv(list, 1, 0, &wrong, CLOCK_MONOTONIC));
    say("negative", waitv(list, 1, 0, &negative, CLOCK_MONOTONIC));
    say("another clock", waitv(list, 1, 0, &wrong, CLOCK_BOOTTIME));
    say("no timeout, another clock, another value", (list[0].val = 1, waitv(list, 1, 0, 0, CLOCK_BOOTTIME)));
    say("a timeout that cannot be read", waitv(list, 1, 0, (void*)8, CLOCK_MONOTONIC));
    fill(PRIVATE), list[1].reserved = 1;
    say("reserved", waitv(list, 2, 0, 0, 0));
    fill(PRIVATE), list[1].flags = 128;
    say("size", waitv(list, 2, 0, 0, 0));
    list[1].flags = 2 | 64;
    say("unknown flag", waitv(list, 2, 0, 0, 0));
    fill(PRIVATE), list[0].val = 1, list[1].uaddr += 2;
    say("unaligned after another value", waitv(list, 2, 0, 0, 0));
    list[1].uaddr = 16;
    say("private and unreadable after another value", waitv(list, 2, 0, 0, 0));
    list[0].val = 0;
    say("private and unreadable", waitv(list, 2, 0, 0, 0));
    list[0].val = 1, list[1].flags = SHARED;
    say("shared and unreadable after another value", waitv(list, 2, 0, 0, 0));
    fill(PRIVATE), list[0].val = 1, list[1].uaddr = -4096;
    say("beyond user space", waitv(list, 2, 0, 0, 0));
    fill(PRIVATE), list[127].val = 1;
    say("another value", waitv(list, 128, 0, 0, 0));
    say("an unaligned futex", futex((uint32_t*)((char*)word + 1), FUTEX_WAIT, 0, 0, 0, 0));
    say("a wake of one", futex((uint32_t*)((char*)word + 1), FUTEX_WAKE, 1, 0, 0, 0));
}
static void timeouts(void) {
    fill(PRIVATE);
    for (int clock = 0; clock < 2; clock++) {
        struct timespec end = in(clock, 20), now;
        say("timeout", waitv(list, 3, 0, &end, clock));
        clock_gettime(clock, &now);
        say("after it", (now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec >= end.tv_nsec);
        end = in(clock, -20);
        say("past", waitv(list, 128, 0, &end, clock));
    }
    struct timespec zero = {0, 0}, late = {1l << 40, 0};
    say("zero", waitv(list, 1, 0, &zero, CLOCK_REALTIME));
    word[2] = 1;
    say("far away, another value", waitv(list, 3, 0, &late, CLOCK_REALTIME));
}
static unsigned waited;
static void* wait_in_thread(void* unused) { return (void*)waitv(list, waited, 0, 0, 0); }
static void join(pthread_t thread, const char* what) {
    void* result;
    pthread_join(thread, &result);
    say(what, (long)result);
}
static pthread_t begin(unsigned count) {
    pthread_t thread;
    waited = count;
    pthread_create(&thread, 0, wait_in_thread, 0);
    return thread;
}
/// Waits until so many threads wait for the second word, whose value this is. A requeue to the same place counts them.
static void await_at(int operation, unsigned value, long count) {
    while (futex(&word[1], operation, 0, 9, &word[1], value) < count) usleep(1000);
}
static void await(long count) { await_at(FUTEX_CMP_REQUEUE_PRIVATE, 0, count); }
#define UNTIL(call) ({ long got; while ((got = (call)) == 0) usleep(1000); got; })
static void wakes(void) {
    fill(PRIVATE);
    pthread_t thread = begin(128);
    say("FUTEX_WAKE of the last", UNTIL(futex(&word[127], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0)));
    join(thread, "index");
    thread = begin(128);
    say("FUTEX_WAKE_BITSET", UNTIL(futex(&word[5], FUTEX_WAKE_BITSET_PRIVATE, 9, 0, 0, 16)));
    join(thread, "index");
    fill(SHARED), list[1].flags = PRIVATE;
    thread = begin(3);
    say("a wake of a shared one", UNTIL(futex(&word[2], FUTEX_WAKE, 1, 0, 0, 0)));
    join(thread, "index");
    thread = begin(3);
    say("a wake of a private one", UNTIL(futex(&word[1], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0)));
    join(thread, "index");
    thread = begin(3), await(1);
    say("a private wake of a shared one", futex(&word[0], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
    say("a shared wake of a private one", futex(&word[1], FUTEX_WAKE, 1, 0, 0, 0));
    UNTIL(futex(&word[2], FUTEX_WAKE, 1, 0, 0, 0));
    join(thread, "index");
    fill(PRIVATE), list[3].uaddr = list[1].uaddr, list[5].uaddr = list[1].uaddr;
    thread = begin(8);
    say("two wakes of a futex that is listed three times", UNTIL(futex(&word[1], FUTEX_WAKE_PRIVATE, 2, 0, 0, 0)));
    join(thread, "index");
    thread = begin(8);
    say("ten wakes", UNTIL(futex(&word[1], FUTEX_WAKE_PRIVATE, 10, 0, 0, 0)));
    join(thread, "index");
}
static void requeues(void) {
    fill(PRIVATE);
    pthread_t thread = begin(4);
    say("FUTEX_REQUEUE wakes", UNTIL(futex(&word[1], FUTEX_REQUEUE_PRIVATE, 1, 1, &word[9], 0)));
    join(thread, "index");
    thread = begin(4);
    say("FUTEX_REQUEUE", UNTIL(futex(&word[1], FUTEX_REQUEUE_PRIVATE, 0, 1, &word[9], 0)));
    say("at the old place", futex(&word[1], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
    say("at the new one", futex(&word[9], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
    join(thread, "index");
    thread = begin(4);
    say("FUTEX_CMP_REQUEUE, another value", futex(&word[2], FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &word[9], 1));
    say("FUTEX_CMP_REQUEUE", UNTIL(futex(&word[2], FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &word[3], 0)));
    say("both at the new place", futex(&word[3], FUTEX_WAKE_PRIVATE, 9, 0, 0, 0));
    join(thread, "index");
    thread = begin(4);
    say("FUTEX_WAKE_OP", UNTIL(futex(&word[8], FUTEX_WAKE_OP_PRIVATE, 1, 1, &word[3], FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0))));
    join(thread, "index");
}
static void* end_soon(void* unused) {
    syscall(SYS_set_tid_address, &word[1]);
    await_at(FUTEX_CMP_REQUEUE, 1, 1);
    syscall(SYS_exit, 0);
    return unused;
}
static void ends(void) {
    pthread_t thread;
    fill(SHARED), word[1] = 1, list[1].val = 1;
    pthread_create(&thread, 0, end_soon, 0);
    say("the end of a thread", waitv(list, 2, 0, 0, 0));
    say("word", word[1]);
}
static void* wait_alone(void* unused) { return (void*)futex(&word[1], FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); }
static void order(void) {
    pthread_t first, second, third;
    fill(PRIVATE);
    first = begin(2), await(1);
    pthread_create(&second, 0, wait_alone, 0), await(2);
    third = begin(3), await(3);
    say("first", futex(&word[1], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
    join(first, "first");
    say("requeue", futex(&word[1], FUTEX_CMP_REQUEUE_PRIVATE, 0, 9, &word[1], 0));
    say("second", futex(&word[1], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
    join(second, "second");
    say("third", futex(&word[1], FUTEX_WAKE_PRIVATE, 9, 0, 0, 0));
    join(third, "third");
}
static void processes(void) {
    fill(PRIVATE);
    list[2].uaddr = (uintptr_t)&shared[3], list[2].flags = SHARED;
    pid_t child = fork();
    if (child == 0) _exit((int)waitv(list, 4, 0, 0, 0));
    say("a wake in another process", UNTIL(futex(&shared[3], FUTEX_WAKE, 9, 0, 0, 0)));
    int status;
    waitpid(child, &status, 0);
    say("index", WEXITSTATUS(status));
}
static void handle(int number) {}
static long interrupt(pthread_t thread) {
    void* result;
    while (pthread_tryjoin_np(thread, &result) != 0) pthread_kill(thread, SIGUSR1), usleep(10000);
    return (long)result;
}
static void signals(void) {
    fill(PRIVATE);
    for (int restarts = 0; restarts < 2; restarts++) {
        struct sigaction action = {.sa_handler = handle, .sa_flags = restarts ? SA_RESTART : 0};
        sigaction(SIGUSR1, &action, 0);
        pthread_t thread = begin(3);
        await(1);
        pthread_kill(thread, SIGUSR1);
        if (!restarts) say("interrupted", interrupt(thread));
        if (restarts) say("after the handler", UNTIL(futex(&word[2], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0)));
        if (restarts) join(thread, "restarted");
    }
    struct timespec end = in(CLOCK_MONOTONIC, 100);
    alarm(0);
    say("a timeout at the end", waitv(list, 3, 0, &end, CLOCK_MONOTONIC));
}
int main(void) {
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    errors(), timeouts(), wakes(), requeues(), ends(), order(), processes(), signals();
    return 0;
}
"""

# Threads that take work from four queues, whichever has some.
QUEUES = r"""
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
struct waiter { uint64_t val, uaddr; uint32_t flags, reserved; };
static atomic_uint queue[4], done;
static unsigned long hash = 5381;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* number) {
    while (atomic_load(&done) < 2000) {
        struct waiter list[4];
        int taken = 0;
        for (int i = 0; i < 4; i++) {
            unsigned there = atomic_load(&queue[i]);
            list[i] = (struct waiter){there, (uintptr_t)&queue[i], 2 | 128, 0};
            if (there == 0 || there == 99999 || !atomic_compare_exchange_strong(&queue[i], &there, there - 1)) continue;
            taken = 1;
            pthread_mutex_lock(&lock);
            hash = hash * 33 + (unsigned long)number * 4 + i;
            pthread_mutex_unlock(&lock);
            if (atomic_fetch_add(&done, 1) + 1 == 2000)
                for (int k = 0; k < 4; k++) {
                    atomic_store(&queue[k], 99999);
                    syscall(SYS_futex, &queue[k], FUTEX_WAKE_PRIVATE, 99);
                }
        }
        if (!taken) syscall(449, list, 4, 0, 0, 0);
    }
    return 0;
}
int main(void) {
    pthread_t thread[5];
    for (long i = 0; i < 5; i++) pthread_create(&thread[i], 0, work, (void*)i);
    unsigned x = 1;
    for (int i = 0; i < 2000; i++) {
        for (unsigned k = x % 3000; k > 0; k--) x = x * 1664525 + 1013904223;
        atomic_uint* one = &queue[x >> 30];
        unsigned there = atomic_load(one);
        while (there != 99999 && !atomic_compare_exchange_weak(one, &there, there + 1)) {}
        syscall(SYS_futex, one, FUTEX_WAKE_PRIVATE, 1);
    }
    for (int i = 0; i < 5; i++) pthread_join(thread[i], 0);
    printf("%lx %u\n", hash, done);
    return 0;
}
"""


class FutexVectors(RepeatedRuns):
    maxDiff = None

    def test_every_answer_is_the_kernels(self):
        program = self.build(PROGRAM)
        native = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True).stdout
        if "another value:  ENOSYS" in native:
            self.skipTest("the kernel has no futex_waitv")
        self.assertEqual(self.once(program)[0].decode().splitlines(), native.splitlines())

    def test_threads_that_wait_for_several_queues_repeat(self):
        self.assertTrue(self.assert_repeats(self.build(QUEUES)).endswith(b" 2000\n"))

    def test_a_deadlock_is_reported(self):
        program = self.build("""#include <stdint.h>\n#include <sys/syscall.h>\n#include <unistd.h>
            static uint32_t word; static struct { uint64_t v, at; uint32_t flags, reserved; } list = {0, 0, 130, 0};
            int main(void) { list.at = (uintptr_t)&word; return (int)syscall(449, &list, 1, 0, 0, 0); }""")
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 125)
        self.assertIn("waits for one of several futexes, the first at 0x", run.stderr)


if __name__ == "__main__":
    unittest.main()
