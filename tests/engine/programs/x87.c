// x87: stack, control word, status word, environment with the last instruction's address.
#include "tiny.h"

struct environment {
    uint32_t control, status, tag, instruction, code, data, data_segment;
};

int program(int argc, char** argv, char** envp) {
    double a = 2, r = 0;
    unsigned short word = 0;
    long integer = 0;
    __asm__ volatile("fldl %1\n fsqrt\n fldpi\n fmulp\n fld1\n fadd %%st(1),%%st\n fstp %%st(1)\n fstpl %0" : "=m"(r) : "m"(a));
    say("root", *(u64*)&r);
    __asm__ volatile("fldl %1\n fsin\n fldl %1\n fcos\n fpatan\n fstpl %0" : "=m"(r) : "m"(a));
    say("angle", *(u64*)&r);
    for (unsigned mode = 0; mode < 4; ++mode) {
        word = (unsigned short)(0x37f | mode << 10);
        double half = mode & 1 ? -2.5 : 2.5;
        __asm__ volatile("fldcw %1\n fldl %2\n fistpll %0\n fninit" : "=m"(integer) : "m"(word), "m"(half));
        say("rounded", (u64)integer);
    }
    __asm__ volatile("fldz\n fld1\n fdivp\n fldz\n fcomip\n fnstsw %0\n fninit" : "=m"(word) : : "cc");
    say("status", word);
    __asm__ volatile("fld1\n fldz\n fcompp\n fnstsw %0" : "=m"(word));
    say("compare", word);
    struct environment environment = {0};
    u64 here;
    __asm__ volatile("lea 1f(%%rip),%1\n fninit\n fldz\n1: fdivr %%st(0),%%st\n fnstenv %0\n fninit" : "=m"(environment), "=&r"(here));
    say("tag", environment.tag);
    // AMD's CPUs lose the pointer at a context switch unless an exception is pending; the instruction count is the same.
    say("last", (environment.instruction == 0) | (environment.instruction == (uint32_t)here));
    __attribute__((aligned(64))) static char state[512];
    __asm__ volatile("fninit\n fld1\n fxsave64 %0\n fninit\n fxrstor64 %0\n fstpl %1" : "+m"(state), "=m"(r));
    say("one", *(u64*)&r);
    static char saved[108];
    __asm__ volatile("fldpi\n fnsave %0\n frstor %0\n fstpl %1\n fwait\n fnclex\n emms" : "+m"(saved), "=m"(r));
    say("pi", *(u64*)&r);
    static char bcd[10];
    long n = -123456789;
    __asm__ volatile("fildll %1\n fbstp %0\n" : "=m"(bcd) : "m"(n));
    say("bcd", *(u64*)bcd);
    return 0;
}
