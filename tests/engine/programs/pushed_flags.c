// pushf and popf: only the flags that user mode can change do change, and a tracer's trap flag is not visible.
// syscall stores the next rip in rcx and the flags in r11.
#include "tiny.h"

static u64 through(u64 flags) {
    u64 out;
    __asm__ volatile("push %1\n popf\n pushf\n pop %0\n push $2\n popf" : "=r"(out) : "r"(flags) : "cc", "memory");
    return out;
}

int program(int argc, char** argv, char** envp) {
    say("none", through(2));
    say("status", through(0x8d7));
    say("direction", through(0x402));
    say("id", through(0x200002));
    say("iopl", through(0x3002));
    say("reserved", through(0x8 | 0x20 | 0x8000));
    u64 flags;
    __asm__ volatile("xor %%eax,%%eax\n pushfw\n popw %%ax\n mov %%rax,%0" : "=r"(flags) : : "rax", "cc");
    say("word", flags & 0xffff);
    u64 r11, rcx, at;
    __asm__ volatile("cmp %%rax,%%rax\n mov $39,%%eax\n syscall\n1: lea 1b(%%rip),%2"
                     : "=&c"(rcx), "=a"(flags), "=r"(at) : : "r11", "memory", "cc");
    __asm__ volatile("stc\n mov $39,%%eax\n syscall\n mov %%r11,%0" : "=r"(r11) : : "rax", "rcx", "r11", "memory", "cc");
    say("rcx after syscall", rcx == at);
    say("r11 flags", r11);
    return 0;
}
