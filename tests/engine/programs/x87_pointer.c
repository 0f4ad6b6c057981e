// The address of the last x87 instruction, in every instruction that stores it. Every CPU stores it while an exception is
// pending: here a division by zero, which is not delivered before the next waiting x87 instruction.
#include "tiny.h"

struct environment {
    uint32_t control, status, tag, instruction, code, data, data_segment;
};

static u64 in_frame;

static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal;
    struct _libc_fpstate* fp = ((ucontext_t*)context)->uc_mcontext.fpregs;
    in_frame = fp->rip;
    say("code", (u64)info->si_code);
    fp->cwd |= 4;  // masked, so that it is not delivered again
    fp->swd &= 0x7f00;
}

int program(int argc, char** argv, char** envp) {
    unsigned short by_zero = 0x37f & ~4;
    struct environment environment = {0};
    u64 here;
    __asm__ volatile("lea 1f(%%rip),%0\n fninit\n fldcw %2\n fld1\n fldz\n1: fdivrp\n fnstenv %1\n fninit"
                     : "=&r"(here), "=m"(environment) : "m"(by_zero));
    say("fnstenv", environment.instruction == (uint32_t)here);
    static struct { struct environment environment; char registers[80]; } saved;
    __asm__ volatile("lea 1f(%%rip),%0\n fninit\n fldcw %2\n fld1\n fldz\n1: fdivrp\n fnsave %1\n"
                     : "=&r"(here), "=m"(saved) : "m"(by_zero));
    say("fnsave", saved.environment.instruction == (uint32_t)here);
    static __attribute__((aligned(64))) unsigned char state[4096];
    __asm__ volatile("lea 1f(%%rip),%0\n fninit\n fldcw %2\n fld1\n fldz\n1: fdivrp\n fxsave64 %1\n fninit"
                     : "=&r"(here), "=m"(state) : "m"(by_zero));
    say("fxsave64", *(u64*)(state + 8) == here);
    __asm__ volatile("lea 1f(%%rip),%0\n fninit\n fldcw %2\n fld1\n fldz\n1: fdivrp\n fxsave %1\n fninit"
                     : "=&r"(here), "=m"(state) : "m"(by_zero));
    say("fxsave", *(uint32_t*)(state + 8) == (uint32_t)here);
    for (int i = 0; i < 4096; ++i) state[i] = 0;
    __asm__ volatile("lea 1f(%%rip),%0\n fninit\n fldcw %2\n fld1\n fldz\n1: fdivrp\n mov $1,%%eax\n xor %%edx,%%edx\n xsave64 %1\n fninit"
                     : "=&r"(here), "+m"(state) : "m"(by_zero) : "rax", "rdx");
    say("xsave64", *(u64*)(state + 8) == here);
    for (int i = 0; i < 4096; ++i) state[i] = 0x11;
    for (int i = 512; i < 576; ++i) state[i] = 0;
    __asm__ volatile("mov $2,%%eax\n xor %%edx,%%edx\n xsave64 %0" : "+m"(state) : : "rax", "rdx");
    say("xsave64 without x87", *(u64*)(state + 8));
    on_signal(SIGFPE, handler, 0, 0);
    __asm__ volatile("lea 1f(%%rip),%0\n fninit\n fldcw %1\n fld1\n fldz\n1: fdivrp\n fwait\n fninit" : "=&r"(here) : "m"(by_zero));
    say("frame", in_frame == here);
    return 0;
}
