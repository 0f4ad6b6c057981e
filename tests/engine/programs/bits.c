// Shifts by zero, rotates through carry, BMI, adcx/adox, bit scans: flags that are kept, partly changed, or undefined.
#include "tiny.h"
#include <cpuid.h>

#define FLAGS_AFTER(text, ...)                                                                                 \
    ({                                                                                                         \
        u64 f_;                                                                                                \
        u64 a_ = a, c_ = c;                                                                                    \
        __asm__ volatile("push %3\n popf\n" text "\n pushf\n pop %2" : "+a"(a_), "+c"(c_), "=&r"(f_) : "r"(flags), "d"(d) : "cc", "memory"); \
        say(text, a_);                                                                                         \
        say("flags", f_ & (__VA_ARGS__));                                                                      \
    })

static int has(unsigned bit_in_ebx) {
    unsigned a, b, c, d;
    __cpuid_count(7, 0, a, b, c, d);
    return (b & bit_in_ebx) != 0;
}

int program(int argc, char** argv, char** envp) {
    const u64 a = 0x8000000000000101, d = 0xf0f0f0f0f0f0f0f0;
    for (u64 flags = 2; flags < 0xa00; flags += 0x8d5) {
        u64 c = 0;
        FLAGS_AFTER("shl %%cl,%%rax", 0x8d5);
        FLAGS_AFTER("shr %%cl,%%eax", 0x8d5);
        FLAGS_AFTER("rol %%cl,%%rax", 0x8d5);
        FLAGS_AFTER("rcr %%cl,%%rax", 0x8d5);
        FLAGS_AFTER("shld %%cl,%%rdx,%%rax", 0x8d5);
        c = 64;
        FLAGS_AFTER("shl %%cl,%%rax", 0x8d5);
        c = 33;
        FLAGS_AFTER("sar %%cl,%%eax", 0xc5);
        FLAGS_AFTER("rcl %%cl,%%rax", 0x1);
        FLAGS_AFTER("inc %%rax", 0x8d5);
        FLAGS_AFTER("dec %%eax", 0x8d5);
        FLAGS_AFTER("neg %%rax", 0x8d5);
        FLAGS_AFTER("adc %%rdx,%%rax", 0x8d5);
        FLAGS_AFTER("sbb %%rdx,%%rax", 0x8d5);
        FLAGS_AFTER("not %%rax", 0x8d5);
        FLAGS_AFTER("bswap %%rax", 0x8d5);
        FLAGS_AFTER("bsf %%rdx,%%rax", 0x40);
        FLAGS_AFTER("cmovc %%edx,%%eax", 0x8d5);
        FLAGS_AFTER("cmpxchg %%rdx,%%rcx", 0x8d5);
        FLAGS_AFTER("mul %%rcx", 0x801);
        FLAGS_AFTER("setbe %%al", 0x8d5);
        FLAGS_AFTER("cmc", 0x8d5);
        if (has(bit_BMI2) && has(bit_BMI)) {
            FLAGS_AFTER("andn %%rdx,%%rax,%%rax", 0x8c1);
            FLAGS_AFTER("pdep %%rdx,%%rax,%%rax", 0x8d5);
            FLAGS_AFTER("mulx %%rax,%%rcx,%%rax", 0x8d5);
            FLAGS_AFTER("shlx %%rcx,%%rdx,%%rax", 0x8d5);
            FLAGS_AFTER("rorx $5,%%rdx,%%rax", 0x8d5);
            FLAGS_AFTER("blsr %%rdx,%%rax", 0x8c1);
        }
        if (has(bit_ADX)) {
            FLAGS_AFTER("adcx %%rdx,%%rax", 0x8d5);
            FLAGS_AFTER("adox %%rdx,%%rax", 0x8d5);
        }
    }
    return 0;
}
