// CPUID agrees with xgetbv and with itself; time stamps never decrease.
#include "tiny.h"
#include <cpuid.h>

int program(int argc, char** argv, char** envp) {
    unsigned a, b, c, d, low, high, aux;
    __cpuid(0, a, b, c, d);
    say("leaves", a >= 7);
    __cpuid(1, a, b, c, d);
    say("sse2", d >> 26 & 1);
    const int osxsave = c >> 27 & 1;
    if (osxsave) {
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        say("x87 and sse", low & 3);
        say("avx agrees", (c >> 28 & 1) == (low >> 2 & 1));
    }
    __cpuid_count(7, 0, a, b, c, d);
    say("bmi agrees", (b >> 3 & 1) == (b >> 8 & 1));
    u64 last = 0;
    for (int i = 0; i < 100; ++i) {
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        const u64 now = (u64)high << 32 | low;
        must(now >= last, "rdtsc does not decrease");
        last = now;
    }
    __cpuid(0x80000001, a, b, c, d);
    if (d >> 27 & 1) {
        __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
        must(((u64)high << 32 | low) >= last, "rdtscp does not decrease");
    }
    u64 kept = 0x1122334455667788;
    __asm__ volatile("mov $0,%%eax\n mov $0,%%ecx\n cpuid\n shr $32,%%rax\n mov %%rax,%0" : "=r"(kept) : : "rax", "rbx", "rcx", "rdx");
    say("upper half", kept);
    return 0;
}
