// clone3: a thread, processes, CLONE_CLEAR_SIGHAND, a pidfd, and arguments that are refused.
#include <linux/sched.h>

#include "tiny.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

static char stack[16384] __attribute__((aligned(64)));
static volatile int seen;
static volatile int child_tid = 1;

static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info, (void)context;
    ++seen;
}

__attribute__((noreturn, used)) static void thread_body(void) {
    seen = 40;
    for (;;) sys(__NR_exit, 0);
}

/// The new thread can't return from this function, since its stack is empty: it calls thread_body.
static long clone3_thread(struct clone_args* arguments, u64 size) {
    long result;
    __asm__ volatile(
        "syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tcall thread_body\n1:"
        : "=a"(result)
        : "a"(435), "D"(arguments), "S"(size)
        : "rcx", "r11", "memory");
    return result;
}

static void one_thread(void) {
    struct clone_args arguments = {
        .flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                 CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID,
        .child_tid = (u64)&child_tid,
        .parent_tid = (u64)&child_tid,
        .stack = (u64)stack,
        .stack_size = sizeof stack,
    };
    must(clone3_thread(&arguments, sizeof arguments) > 0, "a thread");
    for (int tid; (tid = child_tid) != 0;) sys(__NR_futex, &child_tid, 0, tid, 0, 0, 0);
}

/// Some of many threads end before the call returns in their parent: the id in memory stays cleared.
static void thread(void) {
    for (int i = 0; i < 300; ++i) one_thread();
    say("thread", (u64)seen);
}

static void process(u64 flags, int signal) {
    int pidfd = -1;
    on_signal(SIGUSR1, handler, 0, 0);
    seen = 0;
    struct clone_args arguments = {.flags = flags | CLONE_PIDFD, .pidfd = (u64)&pidfd, .exit_signal = SIGCHLD};
    const long child = sys(435, &arguments, sizeof arguments);
    if (child == 0) {
        raise_here(signal);
        for (;;) sys(__NR_exit_group, 10 + seen);
    }
    say("status", (u64)wait_status(child));
    say("pidfd", pidfd > 2);
    sys(__NR_close, pidfd);
}

/// CLONE_CLEAR_SIGHAND clears flags as well: without SA_NOCLDWAIT the child can wait for its own child.
static void cleared_flags(void) {
    struct action no_zombies = {0, SA_NOCLDWAIT | SA_RESTORER, restore_frame, 0};
    const struct action by_default = {0};
    struct clone_args arguments = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGUSR2};
    sys(__NR_rt_sigaction, SIGCHLD, &no_zombies, 0, 8);
    on_signal(SIGUSR2, handler, 0, 0);
    const long child = sys(435, &arguments, sizeof arguments);
    if (child == 0) {
        struct action after;
        int status = 0;
        sys(__NR_rt_sigaction, SIGCHLD, 0, &after, 8);
        const long grandchild = sys(__NR_fork);
        if (grandchild == 0)
            for (;;) sys(__NR_exit_group, 7);
        const long waited = sys(__NR_wait4, grandchild, &status, 0, 0);
        for (;;) sys(__NR_exit_group, after.flags == 0 && waited == grandchild ? status >> 8 : 60);
    }
    sys(__NR_rt_sigaction, SIGCHLD, &by_default, 0, 8);
    int status = 0;
    while (sys(__NR_wait4, child, &status, 0x40000000, 0) == -EINTR) {  // __WALL: the exit signal is not SIGCHLD
    }
    say("cleared flags", (u64)status);
}

static void refused_arguments(void) {
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    say("too small", (u64)-sys(435, &arguments, 63));
    say("unreadable", (u64)-sys(435, 8, sizeof arguments));
    say("too big", (u64)-sys(435, &arguments, 5000));
    arguments.stack = (u64)stack;
    say("a stack without size", (u64)-sys(435, &arguments, sizeof arguments));
    arguments = (struct clone_args){.flags = CLONE_SIGHAND | CLONE_CLEAR_SIGHAND | CLONE_VM};
    say("handlers shared and cleared", (u64)-sys(435, &arguments, sizeof arguments));
    arguments = (struct clone_args){.flags = CLONE_THREAD};
    say("a thread with its own memory", (u64)-sys(435, &arguments, sizeof arguments));
    arguments = (struct clone_args){.exit_signal = 200};
    say("invalid exit signal", (u64)-sys(435, &arguments, sizeof arguments));
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    thread();
    process(0, SIGUSR1);
    process(CLONE_CLEAR_SIGHAND, SIGUSR1);
    cleared_flags();
    refused_arguments();
    return 0;
}
