// String instructions: each width and prefix, counts 0, 1 and 9, both directions, early termination, 32-bit addresses.
#include "tiny.h"

static unsigned char from[256], to[256];

struct regs {
    u64 rcx, rsi, rdi, rax, flags;
};

#define RUN(instruction, setup)                                                                               \
    do {                                                                                                      \
        struct regs r = {count, (u64)(from + start), (u64)(to + start), 0x4141414141414141ul, 0};             \
        __asm__ volatile(setup "cmp %%rsp,%%rsp\n" instruction "\npushf\npop %4\ncld"                         \
                         : "+c"(r.rcx), "+S"(r.rsi), "+D"(r.rdi), "+a"(r.rax), "=r"(r.flags)                  \
                         :                                                                                    \
                         : "memory", "cc");                                                                   \
        show(#instruction, &r);                                                                               \
    } while (0)

static u64 hash(void) {
    u64 h = 1469598103934665603ul;
    for (int i = 0; i < 256; ++i) h = (h ^ to[i]) * 1099511628211ul;
    return h;
}

static u64 sum;

static void show(const char* name, const struct regs* r) {
    (void)name;
    sum = (sum ^ r->rcx) * 31;
    sum = (sum ^ (r->rsi - (u64)from)) * 31;
    sum = (sum ^ (r->rdi - (u64)to)) * 31;
    sum = (sum ^ r->rax) * 31;
    sum = (sum ^ (r->flags & 0xcd5)) * 31;
}

static void reset(void) {
    for (int i = 0; i < 256; ++i) from[i] = (unsigned char)(i * 7), to[i] = (unsigned char)(i % 40 == 8 ? i : i * 7);
    to[100] = 0x41;
    to[140] = 0x41;
}

static void moves(u64 count, u64 start, int down) {
    reset();
    if (down) {
        RUN("rep movsb", "std\n");
        RUN("rep movsq", "std\n");
        RUN("movsl", "std\n");
        RUN("rep stosw", "std\n");
        RUN("lodsb", "std\n");
        RUN("rep lodsl", "std\n");
    } else {
        RUN("rep movsb", "");
        RUN("rep movsw", "");
        RUN("rep movsl", "");
        RUN("rep movsq", "");
        RUN("movsb", "");
        RUN("movsq", "");
        RUN("rep stosb", "");
        RUN("rep stosw", "");
        RUN("rep stosl", "");
        RUN("rep stosq", "");
        RUN("stosb", "");
        RUN("lodsb", "");
        RUN("lodsw", "");
        RUN("lodsl", "");
        RUN("lodsq", "");
        RUN("rep lodsb", "");
        RUN("repne movsb", "");
        RUN("rep addr32 movsb", "");
        RUN("rep addr32 stosq", "");
    }
    say("moves", hash() ^ sum);
}

static void compares(u64 count, u64 start, int down) {
    reset();
    if (down) {
        RUN("repe cmpsb", "std\n");
        RUN("repne scasb", "std\n");
    } else {
        RUN("repe cmpsb", "");
        RUN("repne cmpsb", "");
        RUN("repe cmpsw", "");
        RUN("repe cmpsl", "");
        RUN("repne cmpsq", "");
        RUN("cmpsb", "");
        RUN("cmpsq", "");
        RUN("repe scasb", "");
        RUN("repne scasb", "");
        RUN("repne scasw", "");
        RUN("repe scasl", "");
        RUN("repne scasq", "");
        RUN("scasb", "");
        RUN("repe addr32 cmpsb", "");
    }
    say("compares", sum);
}

int program(int argc, char** argv, char** envp) {
    const u64 counts[] = {0, 1, 9};
    for (int i = 0; i < 3; ++i)
        for (int down = 0; down < 2; ++down) {
            moves(counts[i], 60, down);
            compares(counts[i], 90, down);
        }
    // an overlapping copy repeats its pattern
    reset();
    unsigned char *s = to, *d = to + 3;
    u64 n = 60;
    __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    say("overlap", hash());
    return 0;
}
