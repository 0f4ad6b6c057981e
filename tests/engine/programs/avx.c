// AVX, AVX2 and FMA if the CPU has them: 256-bit state, gathers, masked moves, vzeroupper. Otherwise prints nothing.
#include "tiny.h"
#include <cpuid.h>
#include <immintrin.h>

static int usable(void) {
    unsigned a, b, c, d, low, high;
    __cpuid(1, a, b, c, d);
    if (!(c & bit_OSXSAVE) || !(c & bit_AVX) || !(c & bit_FMA)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6) return 0;
    __cpuid_count(7, 0, a, b, c, d);
    return (b & bit_AVX2) != 0;
}

static u64 words[16], out[16];

__attribute__((target("avx2,fma"))) static void run(void) {
    for (int i = 0; i < 16; ++i) words[i] = (u64)i * 0x123456789abcdul;
    __m256i a = _mm256_loadu_si256((const __m256i*)words), b = _mm256_loadu_si256((const __m256i*)(words + 4));
    _mm256_storeu_si256((__m256i*)out, _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_permute4x64_epi64(a, 0x1b)));
    const __m256i index = _mm256_set_epi64x(9, 7, 3, 1);
    _mm256_storeu_si256((__m256i*)(out + 4), _mm256_i64gather_epi64((const long long*)words, index, 8));
    const __m256d x = _mm256_set_pd(1, 2, 3, 4);
    const __m256d y = _mm256_fmadd_pd(x, x, _mm256_sqrt_pd(x));
    _mm256_maskstore_pd((double*)(out + 8), _mm256_set_epi64x(-1, 0, -1, -1), y);
    _mm256_zeroupper();
    __m128 s = _mm_broadcast_ss((const float*)words);
    _mm_storeu_ps((float*)(out + 12), _mm_permute_ps(s, 3));
    // values kept in registers across branches, calls and system calls
    __m256i kept = _mm256_set1_epi64x(0x5555);
    for (int i = 0; i < 10; ++i) {
        __asm__ volatile("" : "+x"(kept));
        sys(__NR_getpid);
        kept = _mm256_add_epi64(kept, a);
    }
    _mm256_storeu_si256((__m256i*)(out + 4), kept);
    _mm256_zeroall();
}

int program(int argc, char** argv, char** envp) {
    if (!usable()) return 0;
    run();
    for (int i = 0; i < 16; ++i) say("out", out[i]);
    return 0;
}
