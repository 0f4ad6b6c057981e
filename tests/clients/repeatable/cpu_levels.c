// cpu_levels.c: prints what a program can learn about its CPU, a line for each fact:
//   leaves       CPUID, all leaves and subleaves that are not zero; XGETBV; the auxiliary vector
//   forms        for each instruction of kForms: ok, or the signal that it raised
//   clock        the CPU's number that rdtscp reads, and whether its clock has advanced since rdtsc
//   state        how far XSAVE and its like write, and what a signal frame says of the vector state
#define _GNU_SOURCE
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static void leaf(unsigned number) {
    for (unsigned sub = 0; sub < 32; ++sub) {
        unsigned a, b, c, d;
        __cpuid_count(number, sub, a, b, c, d);
        if (a | b | c | d) printf("leaf %x.%u %x %x %x %x\n", number, sub, a, b, c, d);
    }
}

static uint64_t xgetbv(unsigned which) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
    return (uint64_t)high << 32 | low;
}

// The vector on the stack: glibc replaces some values in what getauxval() returns.
static unsigned long auxiliary(unsigned long type) {
    char** end = environ;
    while (*end) ++end;
    const unsigned long* entry = (unsigned long*)(end + 1);
    while (entry[0] != type && entry[0] != 0) entry += 2;
    return entry[1];
}

static void leaves(void) {
    for (unsigned number = 0; number < 64; ++number) leaf(number);
    for (unsigned number = 0x40000000; number < 0x40000010; ++number) leaf(number);
    for (unsigned number = 0x80000000; number < 0x80000040; ++number) leaf(number);
    printf("xcr0 %lx\n", (unsigned long)xgetbv(0));
    printf("hwcap %lx %lx minsigstksz %lu\n", auxiliary(AT_HWCAP), auxiliary(AT_HWCAP2), auxiliary(AT_MINSIGSTKSZ));
}

static sigjmp_buf back;
static volatile int code;
static void *volatile at;
static void on_signal(int number, siginfo_t* info, void* context) {
    code = info->si_code;
    at = info->si_addr;
    (void)context;
    siglongjmp(back, number);
}

static char area[64] __attribute__((aligned(64)));
#define FORM(name, text) \
    __attribute__((noinline)) static void name(void) { \
        __asm__ volatile(text : : "D"(area) : "rax", "rbx", "rcx", "rdx", "xmm0", "xmm1", "memory", "cc"); \
    }
FORM(sse2, "paddd %%xmm1, %%xmm0")
FORM(tzcnt, "mov $8, %%eax\n\ttzcnt %%eax, %%ecx")
FORM(endbr64, "endbr64")
FORM(popcnt, "popcnt %%eax, %%ecx")
FORM(pshufb, "pshufb %%xmm1, %%xmm0")
FORM(crc32, "crc32l %%eax, %%ecx")
FORM(cmpxchg16b, "lock cmpxchg16b (%%rdi)")
FORM(avx, "vaddps %%ymm1, %%ymm0, %%ymm0\n\tvzeroupper")
FORM(avx2, "vpaddd %%ymm1, %%ymm0, %%ymm0\n\tvzeroupper")
FORM(fma, "vfmadd213ps %%ymm1, %%ymm0, %%ymm0\n\tvzeroupper")
FORM(andn, "andn %%eax, %%ecx, %%edx")
FORM(pext, "pext %%eax, %%ecx, %%edx")
FORM(movbe, "movbe (%%rdi), %%eax")
FORM(rdfsbase, "rdfsbase %%rax")
FORM(avx512f, "vpaddd %%zmm1, %%zmm0, %%zmm0\n\tvzeroupper")
FORM(avx512vl, "vpaddd %%xmm17, %%xmm0, %%xmm0")
FORM(avx512bw, "kmovq %%rax, %%k1")
FORM(avx512vbmi, "vpermb %%zmm1, %%zmm0, %%zmm0\n\tvzeroupper")
FORM(aes, "aesenc %%xmm1, %%xmm0")
FORM(vaes, "vaesenc %%ymm1, %%ymm0, %%ymm0\n\tvzeroupper")
FORM(pclmulqdq, "pclmulqdq $0, %%xmm1, %%xmm0")
FORM(sha, "sha1nexte %%xmm1, %%xmm0")
FORM(adcx, "adcx %%eax, %%ecx")
FORM(rdtscp, "rdtscp")
FORM(rdrand, "rdrand %%eax")
FORM(xsavec, "sub $1024, %%rsp\n\tmov %%rsp, %%rdi\n\tand $-64, %%rdi\n\txor %%eax, %%eax\n\txor %%edx, %%edx\n\txsavec (%%rdi)\n\tadd $1024, %%rsp")
FORM(clflushopt, "clflushopt (%%rdi)")
FORM(xsaveopt, "sub $1024, %%rsp\n\tmov %%rsp, %%rdi\n\tand $-64, %%rdi\n\txor %%eax, %%eax\n\txor %%edx, %%edx\n\txsaveopt (%%rdi)\n\tadd $1024, %%rsp")

static const struct {
    const char* name;
    void (*run)(void);
} forms[] = {
#define ROW(name) {#name, name}
    ROW(sse2), ROW(tzcnt), ROW(endbr64), ROW(popcnt), ROW(pshufb), ROW(crc32), ROW(cmpxchg16b), ROW(avx), ROW(avx2),
    ROW(fma), ROW(andn), ROW(pext), ROW(movbe), ROW(rdfsbase), ROW(avx512f), ROW(avx512vl), ROW(avx512bw),
    ROW(avx512vbmi), ROW(aes), ROW(vaes), ROW(pclmulqdq), ROW(sha), ROW(adcx), ROW(rdtscp), ROW(rdrand), ROW(xsavec),
    ROW(clflushopt), ROW(xsaveopt),
};

static void try_forms(void) {
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; ++i) {
        const int number = sigsetjmp(back, 1);
        if (number == 0) {
            forms[i].run();
            printf("%s ok\n", forms[i].name);
        } else {
            const long offset = (char*)at - (char*)forms[i].run;
            printf("%s signal %d code %d %s\n", forms[i].name, number, code, offset >= 0 && offset < 64 ? "there" : "elsewhere");
        }
    }
}

static unsigned char room[16384] __attribute__((aligned(64)));
static void written(const char* name, int compact) {
    memset(room, 0x5a, sizeof room);
    memset(room + 512, 0, 64);
    // All components are in use as far as the CPU has them: the area is written to its end.
    __asm__ volatile("pcmpeqd %%xmm3, %%xmm3" : : : "xmm3");
    if (compact)
        __asm__ volatile("xsavec64 (%0)" : : "r"(room), "a"(-1), "d"(-1) : "memory");
    else
        __asm__ volatile("xsave64 (%0)" : : "r"(room), "a"(-1), "d"(-1) : "memory");
    unsigned end = sizeof room;
    while (end > 0 && room[end - 1] == 0x5a) --end;
    unsigned long components, layout;
    memcpy(&components, room + 512, 8);
    memcpy(&layout, room + 520, 8);
    printf("%s to %u components beyond %lx compact %lx\n", name, end, components & ~0xfful, layout);
    __asm__ volatile("pxor %%xmm3, %%xmm3" : : : "xmm3");
    __asm__ volatile("xrstor64 (%0)" : : "r"(room), "a"(-1), "d"(-1) : "memory");
    unsigned low;
    __asm__ volatile("movd %%xmm3, %0" : "=r"(low));
    printf("%s restored %x\n", name, low);
}

static void on_frame(int number, siginfo_t* info, void* context) {
    const ucontext_t* user = context;
    const unsigned char* state = (const unsigned char*)user->uc_mcontext.fpregs;
    uint32_t note[8], after;
    memcpy(note, state + 464, sizeof note);
    memcpy(&after, state + note[1] - 4, sizeof after);
    printf("frame magic %x size %u features %x%08x and %x\n", note[0], note[4], note[3], note[2], after);
    (void)number, (void)info;
    if (number == SIGILL) ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void state(void) {
    written("xsave", 0);
    unsigned a, b, c, d;
    __cpuid_count(13, 1, a, b, c, d);
    if (a & 2) written("xsavec", 1);
    struct sigaction action = {.sa_sigaction = on_frame, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, 0);
    sigaction(SIGUSR1, &action, 0);
    __asm__ volatile("ud2");
    raise(SIGUSR1);
}

static void read_clock(void) {
    const uint64_t before = __rdtsc();
    unsigned aux;
    const uint64_t after = __rdtscp(&aux);
    printf("cpu %u later %d\n", aux & 0xfff, after > before && after - before < 1000000000);
}

int main(int count, char** words) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, 0);
    if (count != 2) return 2;
    if (strcmp(words[1], "leaves") == 0) leaves();
    if (strcmp(words[1], "forms") == 0) try_forms();
    if (strcmp(words[1], "clock") == 0) read_clock();
    if (strcmp(words[1], "state") == 0) state();
    return 0;
}
