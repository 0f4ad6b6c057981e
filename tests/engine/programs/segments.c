// fs and gs bases set by arch_prctl and by instructions; loads, stores and branches through them; fork keeps them.
#include "tiny.h"

static u64 area[16];

int program(int argc, char** argv, char** envp) {
    for (int i = 0; i < 16; ++i) area[i] = 100 + (u64)i;
    sys(__NR_arch_prctl, ARCH_SET_GS, area);
    u64 a, b, base = 0;
    __asm__ volatile("mov %%gs:8,%0\n mov $3,%1\n mov %%gs:(,%1,8),%1\n addq $5,%%gs:16\n lock incq %%gs:16" : "=&r"(a), "=&r"(b) : : "memory", "cc");
    say("gs:8", a);
    say("gs:24", b);
    say("gs:16", area[2]);
    sys(__NR_arch_prctl, ARCH_GET_GS, &base);
    say("base", base == (u64)area);
    sys(__NR_arch_prctl, ARCH_SET_FS, area + 8);
    __asm__ volatile("mov %%fs:0,%0\n mov %%gs:0,%1" : "=r"(a), "=r"(b));
    say("fs:0", a);
    say("gs:0", b);
    __asm__ volatile("lea 1f(%%rip),%%rax\n mov %%rax,%%gs:0\n xor %%eax,%%eax\n jmp *%%gs:0\n ud2\n1: mov $1,%%eax\n mov %%rax,%0" : "=r"(a) : : "rax", "memory", "cc");
    say("jumped", a);
    const u64* from = area + 4;
    __asm__ volatile("xor %%esi,%%esi\n gs lodsq\n mov %%rax,%0\n push %%gs:24\n pop %1\n movdqu %%gs:32,%%xmm0\n movq %%xmm0,%%rsi\n add %%rsi,%1" : "=&r"(a), "=&r"(b) : "r"(from) : "rax", "rsi", "xmm0", "memory", "cc");
    say("lods", a != 0);
    say("pushed", b);
    const long child = sys(__NR_fork);
    if (child == 0) {
        __asm__ volatile("mov %%gs:40,%0" : "=r"(a));
        sys(__NR_exit_group, a);
    }
    say("in child", (u64)wait_status(child));
    sys(__NR_arch_prctl, ARCH_SET_GS, 0);
    sys(__NR_arch_prctl, ARCH_GET_GS, &base);
    say("none", base);
    u64 hwcap2 = 0;
    while (*envp) ++envp;
    for (u64* at = (u64*)(envp + 1); *at; at += 2)
        if (*at == 26) hwcap2 = at[1];
    if (!(hwcap2 & 2)) return 0;  // the kernel does not enable FSGSBASE
    __asm__ volatile("wrgsbase %2\n mov %%gs:8,%0\n rdgsbase %1" : "=r"(a), "=r"(b) : "r"(area + 1));
    say("wrgsbase", a);
    say("rdgsbase", b == (u64)(area + 1));
    sys(__NR_arch_prctl, ARCH_GET_GS, &base);
    say("agrees", base == (u64)(area + 1));
    __asm__ volatile("rdfsbase %1\n wrfsbase %2\n mov %%fs:0,%0" : "=r"(a), "=&r"(b) : "r"(area + 5));
    say("fs", a);
    say("before", b == (u64)(area + 8));
    return 0;
}
