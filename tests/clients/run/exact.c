// exact.c: work whose instructions and calls are known by its source: loops, recursion, indirect calls, inlined code;
// with an argument also in threads, in the children of forks that are killed, and of a vfork.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

APART long loop(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("");
    }
    return sum;
}
APART long leaf(long n) {
    return n * 3 + 1;
}
APART long other(long n) {
    return n ^ 5;
}
APART long recursive(long n) {
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

static inline long inlined(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += i * i;
    return sum;
}

long (*volatile functions[2])(long) = {leaf, other};

APART long indirect(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += functions[i % 3 == 0](i);
    return sum;
}
APART long with_inlined(volatile long* n) {
    return inlined(*n) + leaf(*n);
}

static void* thread(void* nothing) {
    indirect(1500);
    loop(100000);
    return nothing;
}

static void processes(void) {
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            loop(1000000);
            indirect(777);
            kill(getpid(), SIGKILL);
        }
    while (wait(NULL) > 0) {
    }
    if (vfork() == 0) {
        loop(50);
        _exit(0);
    }
    wait(NULL);
}

static void threads(void) {
    for (int round = 0; round < 5; round++) {
        pthread_t all[8];
        for (int i = 0; i < 8; i++) pthread_create(&all[i], NULL, thread, NULL);
        for (int i = 0; i < 8; i++) pthread_join(all[i], NULL);
    }
}

int main(int count, char** words) {
    (void)words;
    volatile long n = 1000;
    long sum = loop(5000) + recursive(18) + indirect(9000) + with_inlined(&n);
    for (int i = 0; i < 100; i++) sum += leaf(i);
    if (count > 1) processes(), threads();
    printf("%ld\n", sum);
    return 3;
}
