// mov to ss delays traps by one instruction; execution and the value of ss must not change.
#include "tiny.h"

int program(int argc, char** argv, char** envp) {
    u64 a = 1;
    __asm__ volatile("mov %%ss,%%ecx\n mov %%ecx,%%ss\n add $2,%0\n mov %%ecx,%%ss\n push %0\n pop %0" : "+r"(a) : : "rcx", "cc");
    say("a", a);
    u64 ss;
    __asm__ volatile("mov %%ss,%0" : "=r"(ss));
    say("ss", ss);
    return 0;
}
