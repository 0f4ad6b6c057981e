// Memory operands with a gs prefix that ModRM does not name, or names in its own way: string instructions, xlat, maskmov,
// gathers, compressed displacements; with 32-bit addresses; and what a fault in the middle of them leaves.
#include "tiny.h"
#include <cpuid.h>

enum { kBase = 0x10000000, kPages = 3, kPage = 4096 };

static unsigned char* const area = (unsigned char*)kBase;

/// The registers with which an instruction begins, and those after it.
static struct {
    u64 rax, rbx, rcx, rdx, rsi, rdi;
} r;

static void show(const char* name) {
    put(name);
    put("\n");
    say(" rax", r.rax);
    say(" rbx", r.rbx);
    say(" rcx", r.rcx);
    say(" rdx", r.rdx);
    say(" rsi", r.rsi);
    say(" rdi", r.rdi);
    u64 sum = 0;
    const u64* const words = (const u64*)area;  // few steps, for the test that single-steps
    for (unsigned i = 0; i < kPage / sizeof(u64); ++i) sum = sum * 31 + words[i];
    say(" area", sum);
}

#define RUN(name, text)                                                                                               \
    do {                                                                                                              \
        __asm__ volatile("mov %0,%%r8\n mov (%%r8),%%rax\n mov 8(%%r8),%%rbx\n mov 16(%%r8),%%rcx\n mov 24(%%r8),%%rdx\n" \
                         "mov 32(%%r8),%%rsi\n mov 40(%%r8),%%rdi\n" text "\n"                                         \
                         "mov %%rax,(%%r8)\n mov %%rbx,8(%%r8)\n mov %%rcx,16(%%r8)\n mov %%rdx,24(%%r8)\n"            \
                         "mov %%rsi,32(%%r8)\n mov %%rdi,40(%%r8)"                                                     \
                         : : "r"(&r) : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "xmm0", "xmm1",     \
                           "xmm2", "memory", "cc");                                                                    \
        show(name);                                                                                                   \
    } while (0)

static const u64 kJunk = 0xabcd00000000;  // in the upper half of a register that gives a 32-bit address

/// Shows the registers at a fault and makes the page accessible, so that the instruction goes on.
static void on_fault(int signal, siginfo_t* info, void* context) {
    const greg_t* g = registers_of(context);
    say("fault at", (u64)info->si_addr - kBase);
    say(" rax", (u64)g[REG_RAX]);
    say(" rbx", (u64)g[REG_RBX]);
    say(" rcx", (u64)g[REG_RCX]);
    say(" rdx", (u64)g[REG_RDX]);
    say(" rsi", (u64)g[REG_RSI]);
    say(" rdi", (u64)g[REG_RDI]);
    sys(__NR_mprotect, area + kPage, kPage, PROT_READ | PROT_WRITE);
}

static void close_page(void) {
    sys(__NR_mprotect, area + kPage, kPage, PROT_NONE);
}

static void set(u64 rax, u64 rbx, u64 rcx, u64 rdx, u64 rsi, u64 rdi) {
    r.rax = rax, r.rbx = rbx, r.rcx = rcx, r.rdx = rdx, r.rsi = rsi, r.rdi = rdi;
}

static void strings(void) {
    set(1, 2, 40, 4, 8, kBase + 512);
    RUN("rep movsb", "rep movsb %%gs:(%%rsi),(%%rdi)");
    set(1, 2, 5, 4, 0x100, kBase + 600);
    RUN("rep movsq backwards", "std\n rep movsq %%gs:(%%rsi),(%%rdi)\n cld");
    set(1, 2, 30, 4, 8, kBase + 520);
    RUN("repe cmpsb", "repe cmpsb (%%rdi),%%gs:(%%rsi)");
    set(1, 2, 0, 4, 8, kBase + 520);
    RUN("rep lodsw of none", "rep lodsw %%gs:(%%rsi),%%ax");
    set(1, 2, 3, 4, 8, 6);
    RUN("lods after a void rex", ".byte 0x48,0x65,0xad");
    set(1, 2, 3, 4, 8, 6);
    RUN("lods with rex", ".byte 0x65,0x48,0xad");
    set(1, 2, 3, 4, kJunk | 8, 6);
    RUN("lodsb of 32 bits", "addr32 lodsb %%gs:(%%esi),%%al");
    set(1, 2, kJunk | 20, 4, kJunk | 8, kJunk | (kBase + 700));
    RUN("rep movsb of 32 bits", "addr32 rep movsb %%gs:(%%esi),(%%edi)");
    set(1, 2, kJunk | 20, 4, kJunk | 8, kJunk | (kBase + 700));
    RUN("repe cmpsb of 32 bits", "addr32 repe cmpsb (%%edi),%%gs:(%%esi)");
}

static void named(void) {
    set(0x77, 0x88, 3, 4, 512, 6);
    RUN("addition", "lock xadd %%rax,%%gs:8(%%rsi,%%rcx,4)\n add %%bl,%%gs:(%%esi)");
    RUN("absolute of 32 bits", ".byte 0x67,0x65,0x48,0xa1\n .long 528");
    RUN("absolute with a rex of all bits", ".byte 0x65,0x4f,0xa1\n .quad 528");
    // cmpxchg16b has four implied registers, so few are left to compute its address in.
    set(0x77, 0x88, 3, 4, 528, 6);
    RUN("unequal exchange of 16 bytes", "lock cmpxchg16b %%gs:(%%rsi)");
    set(0x77, 0x88, 3, 4, 512, 16);
    RUN("exchange of 16 bytes",
        "lock cmpxchg16b %%gs:(%%rsi,%%rdi)\n lock cmpxchg16b %%gs:(%%rsi,%%rdi)\n cmpxchg8b %%gs:8(%%rdi,%%rsi)");
    // The address of pop is computed after rsp has changed (SDM volume 2, POP).
    sys(__NR_arch_prctl, ARCH_SET_GS, 16);
    RUN("pop", "sub $256,%%rsp\n push %%rax\n pop %%gs:8(%%rsp)\n mov 24(%%rsp),%%rdx\n pushw %%ax\n popw %%gs:(%%rsp)\n"
               "mov 16(%%rsp),%%cx\n push %%gs:8(%%rsp)\n pop %%rbx\n add $256,%%rsp");
    sys(__NR_arch_prctl, ARCH_SET_GS, area);
}

static void implied(void) {
    set(0x1234567, 16, 3, 4, 5, 6);
    RUN("xlat", ".byte 0x65,0xd7");
    set(0x12345f0, kJunk | 16, 3, 4, 5, 6);
    RUN("xlat of 32 bits", ".byte 0x65,0x67,0xd7");
    set(1, 2, kBase, 4, 5, 800);
    RUN("maskmovdqu", "movdqu (%%rcx),%%xmm0\n movdqu 16(%%rcx),%%xmm1\n .byte 0x65\n maskmovdqu %%xmm1,%%xmm0");
    RUN("maskmovq", "movq 24(%%rcx),%%mm0\n movq 32(%%rcx),%%mm1\n .byte 0x65\n maskmovq %%mm1,%%mm0\n emms");
    set(1, 2, kBase, 4, 5, kJunk | 900);
    RUN("maskmovdqu of 32 bits",
        "movdqu (%%rcx),%%xmm0\n movdqu 16(%%rcx),%%xmm1\n .byte 0x65,0x67\n maskmovdqu %%xmm1,%%xmm0");
}

static void faults(void) {
    on_signal(SIGSEGV, on_fault, 0, 0);
    close_page();
    set(1, 2, 40, 4, kPage - 16, kBase + 1024);
    RUN("movs that reads into a page", "rep movsb %%gs:(%%rsi),(%%rdi)");
    close_page();
    set(1, 2, 40, 4, 32, kBase + kPage - 16);
    RUN("movs that writes into a page", "rep movsb %%gs:(%%rsi),(%%rdi)");
    close_page();
    set(1, 2, 9, 4, kPage - 3, kBase);
    RUN("lods", "lodsq %%gs:(%%rsi),%%rax");
    close_page();
    set(1, 2, kJunk | 40, 4, kPage - 16, kBase + 1024);
    RUN("movs of 32 bits", "addr32 rep movsb %%gs:(%%esi),(%%edi)");
    close_page();
    set(0x12345f0, kPage - 16, 3, 4, 5, 6);
    RUN("xlat", ".byte 0x65,0xd7");
    close_page();
    set(1, 2, kBase, 4, 5, kPage - 4);
    RUN("maskmovdqu", "movdqu (%%rcx),%%xmm0\n pcmpeqd %%xmm1,%%xmm1\n .byte 0x65\n maskmovdqu %%xmm1,%%xmm0");
    close_page();
    set(1, 2, 3, 4, kPage, 6);
    RUN("add", "add %%rax,%%gs:8(%%rsi,%%rcx,4)");
}

/// The CPU's features of leaf 7, and whether the kernel enables 256-bit (6) or 512-bit (0xe6) vectors.
static int has(int avx, unsigned ebx, unsigned ecx) {
    unsigned a, b, c, d, low, high;
    __cpuid(1, a, b, c, d);
    if (!(c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    __cpuid_count(7, 0, a, b, c, d);
    return (low & (unsigned)avx) == (unsigned)avx && (b & ebx) == ebx && (c & ecx) == ecx;
}

/// Stores the result at 256 of the area, so that show() sees it.
static void gathers(void) {
    if (!has(6, bit_AVX2, 0)) return;
    for (int i = 0; i < 16; ++i) ((int*)(area + 64))[i] = 40 - i * 9;
    set(kBase, 64, 3, 4, 128, 6);
    RUN("gather with a base",
        "vmovdqu 64(%%rax),%%ymm0\n vpcmpeqd %%ymm1,%%ymm1,%%ymm1\n vpgatherdd %%ymm1,%%gs:8(%%rsi,%%ymm0,2),%%ymm2\n"
        "vmovdqu %%ymm2,256(%%rax)");
    set(kBase, 64, 3, 4, 128, 6);
    RUN("gather without a base",
        "vmovdqu 64(%%rax),%%ymm0\n vpcmpeqd %%ymm1,%%ymm1,%%ymm1\n vpgatherdd %%ymm1,%%gs:128(,%%ymm0,1),%%ymm2\n"
        "vmovdqu %%ymm2,288(%%rax)");
    set(kBase, 64, 3, 4, 128, 6);
    RUN("gather from rbp and r13",
        "mov %%rbp,%%r9\n mov %%r13,%%r10\n mov %%rsi,%%rbp\n lea 4(%%rsi),%%r13\n vmovdqu 64(%%rax),%%ymm0\n"
        "vpcmpeqd %%ymm1,%%ymm1,%%ymm1\n vpgatherdd %%ymm1,%%gs:(%%rbp,%%ymm0,1),%%ymm2\n vmovdqu %%ymm2,320(%%rax)\n"
        "vpcmpeqd %%ymm1,%%ymm1,%%ymm1\n vpgatherdd %%ymm1,%%gs:(%%r13,%%ymm0,1),%%ymm2\n vmovdqu %%ymm2,352(%%rax)\n"
        "mov %%r9,%%rbp\n mov %%r10,%%r13");
}

static void compressed(void) {
    if (!has(0xe6, bit_AVX512F, 0)) return;
    set(kBase, 64, 3, 4, 128, 6);
    RUN("displacement times 64", "vmovdqu64 %%gs:64(%%rsi),%%zmm0\n vmovdqu64 %%zmm0,384(%%rax)");
    RUN("displacement times 8",
        "mov %%rbp,%%r9\n mov %%rsi,%%rbp\n vpaddq %%gs:-24(%%rbp,%%rcx,8)%{1to8%},%%zmm0,%%zmm0\n vmovdqu64 %%zmm0,448(%%rax)\n"
        "vpaddq %%gs:8(%%rbp)%{1to8%},%%zmm0,%%zmm0\n vmovdqu64 %%zmm0,512(%%rax)\n mov %%r9,%%rbp");
    RUN("gather with a compressed displacement",
        "vmovdqu64 64(%%rax),%%zmm0\n kxnorw %%k1,%%k1,%%k1\n vpgatherdd %%gs:8(%%rsi,%%zmm0,1),%%zmm1%{%%k1%}\n"
        "vmovdqu64 %%zmm1,576(%%rax)\n vmovdqu64 64(%%rax),%%zmm20\n kxnorw %%k1,%%k1,%%k1\n"
        "vpgatherdd %%gs:8(%%rsi,%%zmm20,1),%%zmm1%{%%k1%}\n vmovdqu64 %%zmm1,640(%%rax)\n vzeroupper");
}

static void directly_stored(void) {
    if (!has(0, 0, 1u << 28)) return;  // MOVDIR64B
    set(1, kBase + 1024, 3, 4, 64, 6);
    RUN("movdir64b", "movdir64b %%gs:8(%%rsi),%%rbx\n sfence");
}

int program(int argc, char** argv, char** envp) {
    map(area, kPages * kPage, PROT_READ | PROT_WRITE, MAP_FIXED);
    for (int i = 0; i < kPage; ++i) area[i] = (unsigned char)(i * 7 + i / 256);
    sys(__NR_arch_prctl, ARCH_SET_GS, area);
    strings();
    named();
    implied();
    gathers();
    compressed();
    directly_stored();
    faults();
    return 0;
}
