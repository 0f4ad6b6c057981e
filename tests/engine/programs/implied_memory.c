// Instructions with implicit loads and stores, and instructions whose memory operand is not accessed.
#include "tiny.h"

static u64 area[64] __attribute__((aligned(64)));

int program(int argc, char** argv, char** envp) {
    u64 a = 5, b = 6, c = 7, d = (u64)area;
    for (int i = 0; i < 64; ++i) area[i] = (u64)i * 0x0101010101010101ul;
    __asm__ volatile(
        "sub $256,%%rsp\n"
        "push %[a]\n push $5\n push $-100000\n pushw $3\n popw %%ax\n push (%[m])\n push 8(%[m])\n pop 16(%[m])\n pop %%rax\n"
        "pop %%rax\n pop %%rax\n pop %%rax\n"
        "pushf\n popf\n pushfw\n popfw\n"
        "push %%rbp\n enter $32,$0\n leave\n enter $16,$1\n leave\n mov %%rsp,%%rbp\n enter $8,$3\n leave\n pop %%rbp\n"
        "push %%fs\n pop %%rax\n"
        "add $256,%%rsp\n"
        "mov %[m],%%rbx\n mov $9,%%eax\n xlat\n"
        "nopw 8(%[m])\n nopl (%[m],%[a],4)\n lea 8(%[m]),%%rax\n prefetcht0 (%[m])\n prefetchnta 64(%[m])\n prefetchw (%[m])\n"
        "clflush (%[m])\n lfence\n mfence\n sfence\n pause\n"
        "mov $1,%%eax\n lock cmpxchg %[b],24(%[m])\n mov 24(%[m]),%%rax\n lock cmpxchg %[b],24(%[m])\n"
        "xchg %[b],32(%[m])\n lock xadd %[b],40(%[m])\n xadd %[b],%[c]\n"
        "btq $5,(%[m])\n btsq $6,(%[m])\n lock btrq $7,(%[m])\n mov $200,%%eax\n bt %%rax,(%[m])\n btc %%rax,(%[m])\n"
        "incq 48(%[m])\n negq 56(%[m])\n notq 64(%[m])\n adcq $3,72(%[m])\n cmpq $3,72(%[m])\n testq %[a],72(%[m])\n"
        "shlq $2,80(%[m])\n rcrb $1,81(%[m])\n setc 88(%[m])\n cmovc 96(%[m]),%[c]\n movnti %[a],104(%[m])\n"
        "movbe 112(%[m]),%%rax\n movbe %%rax,120(%[m])\n crc32q 112(%[m]),%%rax\n popcntq 120(%[m]),%%rax\n"
        "stmxcsr 128(%[m])\n ldmxcsr 128(%[m])\n fnstcw 136(%[m])\n fldcw 136(%[m])\n fnstsw 144(%[m])\n fnstsw %%ax\n"
        "movdqu (%[m]),%%xmm1\n maskmovdqu %%xmm1,%%xmm1\n movq %%xmm1,160(%[m])\n movhps %%xmm1,168(%[m])\n movlpd 160(%[m]),%%xmm2\n"
        "movntdq %%xmm1,192(%[m])\n pextrw $1,%%xmm1,210(%[m])\n pinsrb $2,211(%[m]),%%xmm1\n extractps $2,%%xmm1,216(%[m])\n"
        "mulq 40(%[m])\n mov $0,%%edx\n divq 40(%[m])\n cqo\n idivq 40(%[m])\n bsf 40(%[m]),%%rax\n"
        : [b] "+r"(b), [c] "+r"(c), [d] "+D"(d)
        : [m] "S"(area), [a] "r"(a)
        : "rax", "rbx", "rdx", "rcx", "xmm1", "xmm2", "memory", "cc");
    // cmpxchg16b: not equal, then equal
    u64 low = 1, high = 2;
    unsigned char same;
    for (int i = 0; i < 2; ++i) {
        __asm__ volatile("lock cmpxchg16b %4" : "=@ccz"(same), "+a"(low), "+d"(high) : "b"(0x77ul), "m"(area[32]), "c"(0x88ul) : "memory");
        say("same", same);
    }
    u64 h = 0;
    for (int i = 0; i < 64; ++i) h = h * 31 + area[i];
    say("area", h);
    say("b", b);
    say("c", c);
    return 0;
}
