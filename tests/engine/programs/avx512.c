// AVX-512 if the CPU has it: masks, broadcasts in memory operands (compressed displacements), registers 16 to 31.
#include "tiny.h"
#include <cpuid.h>
#include <immintrin.h>

static int usable(void) {
    unsigned a, b, c, d, low, high;
    __cpuid(1, a, b, c, d);
    if (!(c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 0xe6) != 0xe6) return 0;
    __cpuid_count(7, 0, a, b, c, d);
    return (b & bit_AVX512F) && (b & bit_AVX512BW) && (b & bit_AVX512VL);
}

static u64 words[32] __attribute__((aligned(64)));

__attribute__((target("avx512f,avx512bw,avx512vl"))) static void run(void) {
    for (int i = 0; i < 32; ++i) words[i] = (u64)i * 0x123456789abcdul;
    __asm__ volatile(
        "vmovdqu64 (%0),%%zmm17\n vpaddq 64(%0),%%zmm17,%%zmm18\n mov $0x5a,%%eax\n kmovw %%eax,%%k1\n"
        "vpsubq 8(%0)%{1to8%},%%zmm18,%%zmm19%{%%k1%}%{z%}\n vmovdqu64 %%zmm19,128(%0)%{%%k1%}\n"
        "vpcmpuq $1,%%zmm17,%%zmm18,%%k2\n kortestw %%k2,%%k2\n kmovw %%k2,%%eax\n mov %%eax,192(%0)\n"
        "vpternlogq $0x96,%%zmm17,%%zmm18,%%zmm31\n vmovdqa64 %%zmm31,(%0)\n vzeroupper"
        : : "r"(words) : "rax", "memory", "cc", "xmm17", "xmm18", "xmm19", "xmm31", "k1", "k2");
}

int program(int argc, char** argv, char** envp) {
    if (!usable()) return 0;
    run();
    for (int i = 0; i < 32; ++i) say("word", words[i]);
    return 0;
}
