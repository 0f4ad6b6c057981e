// A fast timer interrupts code that depends on flags, vectors and the red zone: its results must not change.
#include "tiny.h"

static volatile u64 ticks;
static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info, (void)context;
    ticks = ticks + 1;
    __asm__ volatile("pcmpeqd %%xmm0,%%xmm0\n movdqa %%xmm0,%%xmm5\n movdqa %%xmm0,%%xmm15\n std\n cld\n" : : : "xmm0", "xmm5", "xmm15", "cc");
}

static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

u64 carries(u64 rounds);
__asm__(
    ".text\n"
    "carries:\n xor %eax,%eax\n mov $0x1234,%edx\n movq %rdx,%xmm5\n clc\n"
    "1: adc %rdi,%rax\n lea 2f(%rip),%r8\n jmp *%r8\n"
    "2: adc $0,%rax\n mov %rax,-8(%rsp)\n mov -8(%rsp),%rax\n rcl $7,%rax\n paddq %xmm5,%xmm5\n dec %edi\n jnz 1b\n"
    " adc $0,%rax\n movq %xmm5,%rdx\n xor %rdx,%rax\n ret\n");

int program(int argc, char** argv, char** envp) {
    on_signal(SIGALRM, handler, SA_RESTART, 0);
    struct { long is, ius, s, us; } timer = {0, 500, 0, 500};
    sys(__NR_setitimer, 0, &timer, 0);
    u64 sum = 0;
    do {
        sum = fib(18) * 3 + carries(20000);
        sys(__NR_getppid);
    } while (ticks < 100);
    timer.ius = timer.us = 0;
    sys(__NR_setitimer, 0, &timer, 0);
    say("sum", sum);
    return 0;
}
