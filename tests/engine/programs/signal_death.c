// Wait statuses of children: each fatal signal is reported to the parent, whether it was a fault or sent.
#include "tiny.h"

static void die(int how) {
    if (how == 0) raise_here(SIGTERM);
    if (how == 1) sys(__NR_kill, sys(__NR_getpid), SIGKILL);
    if (how == 2) *(volatile int*)16 = 1;
    if (how == 3) __asm__ volatile("ud2");
    if (how == 4) __asm__ volatile("xor %%ecx,%%ecx\n mov $1,%%eax\n cltd\n idiv %%ecx" : : : "rax", "rcx", "rdx");
    if (how == 5) __asm__ volatile("int3");
    if (how == 6) raise_here(SIGABRT);
    if (how == 7) {  // a fault whose signal is blocked can't be handled
        change_mask(SIG_BLOCK, MASK_OF(SIGSEGV));
        *(volatile int*)16 = 1;
    }
    if (how == 8) {
        struct action ignore = {(handler_t)(u64)1, 0, 0, 0};
        sys(__NR_rt_sigaction, SIGILL, &ignore, 0, 8);
        __asm__ volatile("ud2");
    }
    if (how == 9) ((void (*volatile)(void))0x4000)();
    if (how == 10) sys(__NR_exit, 0x1ff);
    if (how == 11) {
        raise_here(SIGCHLD);
        raise_here(SIGURG);
        raise_here(SIGWINCH);
        raise_here(SIGCONT);
        sys(__NR_exit_group, 7);
    }
    if (how == 12) raise_here(40);
    if (how == 13) __asm__ volatile("mov $0x10,%esp\n push %rax");
}

int program(int argc, char** argv, char** envp) {
    struct { u64 now, most; } none = {0, 0};
    sys(__NR_setrlimit, 4, &none);  // no core files
    for (int how = 0; how < 14; ++how) {
        const long child = sys(__NR_fork);
        if (child == 0) {
            die(how);
            sys(__NR_exit_group, 100);
        }
        say("status", (u64)wait_status(child));
    }
    return 0;
}
