// A timer's signals interrupt loops without system calls: a counting loop, a jump to itself, an indirect jump, a call.
#include "tiny.h"

static volatile int ticks;
static volatile u64 resume_at;  ///< the next tick continues here, if not 0

static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info;
    ticks = ticks + 1;
    if (resume_at) registers_of(context)[REG_RIP] = (greg_t)resume_at;
    resume_at = 0;
}

struct timer {
    long interval_s, interval_us, s, us;
};

int program(int argc, char** argv, char** envp) {
    on_signal(SIGALRM, handler, 0, 0);
    struct timer timer = {0, 2000, 0, 2000};
    sys(__NR_setitimer, 0, &timer, 0);
    u64 n = 0;
    while (ticks < 20) ++n;
    put("counting\n");
    __asm__ volatile("lea 2f(%%rip),%%rax\n mov %%rax,%0\n1: jmp 1b\n2:" : "=m"(resume_at) : : "rax");
    put("jmp .\n");
    __asm__ volatile("lea 2f(%%rip),%%rax\n mov %%rax,%0\n lea 1f(%%rip),%%rcx\n1: jmp *%%rcx\n2:" : "=m"(resume_at) : : "rax", "rcx");
    put("jmp *rcx\n");
    __asm__ volatile("lea 2f(%%rip),%%rax\n mov %%rax,%0\n1: cmp %%eax,%%eax\n je 1b\n2:" : "=m"(resume_at) : : "rax", "cc");
    put("je\n");
    __asm__ volatile("lea 3f(%%rip),%%rax\n mov %%rax,%0\n mov %%rsp,%%r8\n1: call 2f\n2: add $8,%%rsp\n jmp 1b\n3: mov %%r8,%%rsp\n" : "=m"(resume_at) : : "rax", "r8", "cc", "memory");
    put("call\n");
    struct timer off = {0, 0, 0, 0};
    sys(__NR_setitimer, 0, &off, 0);
    return n == 0;
}
