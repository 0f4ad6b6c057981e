// sigaltstack: used, not used, refused while active, SS_AUTODISARM; a handler on it after a stack overflow.
#include "tiny.h"

static char stack[16384] __attribute__((aligned(16)));

static int on_signal_stack(void) {
    char here;
    const char* at = &here;
    __asm__("" : "+r"(at));
    return at >= stack && at < stack + sizeof stack;
}

static void handler(int signal, siginfo_t* info, void* context) {
    (void)info;
    say("signal", (u64)signal);
    say(" on it", (u64)on_signal_stack());
    stack_t other = {stack, 0, 8192}, old;
    say(" change", (u64)-sys(__NR_sigaltstack, &other, 0));
    sys(__NR_sigaltstack, 0, &old);
    say(" flags", (u64)(unsigned)old.ss_flags);
    say(" in context", ((ucontext_t*)context)->uc_stack.ss_size);
    u64 frame;
    __asm__("mov %%rbp,%0" : "=r"(frame));
    if (signal == SIGUSR1) raise_here(SIGUSR2);
    if (signal == SIGSEGV) {
        say(" write", ((ucontext_t*)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1);
        exit_program(3);
    }
}

static u64 overflow(u64 n) {
    if (n == 0) return 0;
    volatile char room[4096];
    room[0] = (char)n;
    return overflow(n + 1) + (u64)room[0];
}

int program(int argc, char** argv, char** envp) {
    (void)argv, (void)envp;
    stack_t mine = {stack, 0, sizeof stack}, old;
    sys(__NR_sigaltstack, 0, &old);
    say("none yet", (u64)(unsigned)old.ss_flags);
    sys(__NR_sigaltstack, &mine, 0);
    on_signal(SIGUSR1, handler, SA_ONSTACK, 0);
    on_signal(SIGUSR2, handler, 0, 0);
    raise_here(SIGUSR1);
    on_signal(SIGUSR1, handler, 0, 0);
    raise_here(SIGUSR1);
    stack_t small = {stack, 0, 100};
    say("too small", (u64)-sys(__NR_sigaltstack, &small, 0));
    stack_t odd = {stack, 77, sizeof stack};
    say("odd flags", (u64)-sys(__NR_sigaltstack, &odd, 0));
    mine.ss_flags = (int)(1u << 31);  // SS_AUTODISARM
    sys(__NR_sigaltstack, &mine, 0);
    on_signal(SIGUSR2, handler, SA_ONSTACK, 0);
    raise_here(SIGUSR2);
    mine.ss_flags = 0;
    sys(__NR_sigaltstack, &mine, 0);
    struct { u64 now, most; } limit = {256 * 1024, 256 * 1024};
    sys(__NR_setrlimit, 3, &limit);
    on_signal(SIGSEGV, handler, SA_ONSTACK, 0);
    return (int)overflow((u64)argc);
}
