// SSE to SSE4.2: arithmetic, rounding modes, comparisons into flags, shuffles, conversions, MXCSR status.
#pragma GCC target("sse4.2")
#include "tiny.h"
#include <immintrin.h>

static u64 low(__m128i v) { return (u64)_mm_cvtsi128_si64(v); }
static u64 high(__m128i v) { return (u64)_mm_extract_epi64(v, 1); }

static void show(const char* name, __m128i v) {
    say(name, low(v));
    say(name, high(v));
}

int program(int argc, char** argv, char** envp) {
    (void)argv, (void)envp;
    volatile double seed = argc + 1.25;
    __m128d d = _mm_set_pd(seed, seed * 3);
    d = _mm_add_pd(_mm_sqrt_pd(d), _mm_mul_pd(d, d));
    show("double", _mm_castpd_si128(d));
    __m128 f = _mm_set_ps(1, -2, 3, (float)seed);
    f = _mm_div_ps(_mm_hadd_ps(f, f), _mm_rcp_ps(_mm_set1_ps(4)));
    show("float", _mm_castps_si128(f));
    show("shuffle", _mm_castps_si128(_mm_shuffle_ps(f, f, 0x1b)));
    show("blend", _mm_castps_si128(_mm_blend_ps(f, _mm_setzero_ps(), 5)));
    show("dot", _mm_castps_si128(_mm_dp_ps(f, f, 0x7f)));
    for (unsigned mode = 0; mode < 4; ++mode) {
        _mm_setcsr(0x1f80 | mode << 13);
        say("rounded", (u64)_mm_cvtsd_si64(_mm_set_sd(seed)));
        show("floor", _mm_castpd_si128(_mm_round_pd(d, 1)));
    }
    _mm_setcsr(0x1f80);
    volatile double zero = 0;
    volatile double q = 1 / zero;
    (void)q;
    say("divided", _mm_getcsr());
    _mm_setcsr(0x1f80);
    u64 flags;
    __asm__ volatile("ucomisd %1,%2\n pushf\n pop %0" : "=r"(flags) : "x"(zero), "x"(seed) : "cc");
    say("ucomisd", flags & 0x8d5);
    __m128i i = _mm_set_epi64x(0x0123456789abcdef, (long long)0xfedcba9876543210);
    show("pshufb", _mm_shuffle_epi8(i, _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f)));
    show("pmulld", _mm_mullo_epi32(i, i));
    show("psad", _mm_sad_epu8(i, _mm_setzero_si128()));
    show("shift", _mm_srli_si128(_mm_slli_epi64(i, 4), 3));
    show("packed", _mm_packus_epi16(i, i));
    say("mask", (u64)_mm_movemask_epi8(i));
    say("crc", _mm_crc32_u64(1, low(i)));
    say("strings", (u64)_mm_cmpistri(i, _mm_set1_epi8(0x54), 0));
    say("ptest", (u64)_mm_testz_si128(i, i));
    show("convert", _mm_cvtpd_epi32(d));
    return 0;
}
