// clone3: a thread, a process, handlers that are cleared, a pidfd, and what is refused.
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

/// On the new stack the function can't return: it goes to thread_body.
static long clone3_thread(struct clone_args* arguments, u64 size) {
    long result;
    __asm__ volatile(
        "syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tcall thread_body\n1:"
        : "=a"(result)
        : "a"(435), "D"(arguments), "S"(size)
        : "rcx", "r11", "memory");
    return result;
}

static void thread(void) {
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

static void refused(void) {
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    say("too small", (u64)-sys(435, &arguments, 63));
    say("unreadable", (u64)-sys(435, 8, sizeof arguments));
    say("too big", (u64)-sys(435, &arguments, 5000));
    arguments.stack = (u64)stack;
    say("a stack of no size", (u64)-sys(435, &arguments, sizeof arguments));
    arguments = (struct clone_args){.flags = CLONE_SIGHAND | CLONE_CLEAR_SIGHAND | CLONE_VM};
    say("handlers shared and cleared", (u64)-sys(435, &arguments, sizeof arguments));
    arguments = (struct clone_args){.flags = CLONE_THREAD};
    say("a thread with its own memory", (u64)-sys(435, &arguments, sizeof arguments));
    arguments = (struct clone_args){.exit_signal = 200};
    say("no signal", (u64)-sys(435, &arguments, sizeof arguments));
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    thread();
    process(0, SIGUSR1);
    process(CLONE_CLEAR_SIGHAND, SIGUSR1);
    refused();
    return 0;
}
