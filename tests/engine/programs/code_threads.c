// One thread changes code that others run: they soon run the new code, and never a mixture of old and new.
#include "tiny_thread.h"

#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)

typedef u64 (*function)(void);

static volatile unsigned char *page, *alias;
static volatile int done;
static volatile int exited[3];
static char stacks[3][65536] __attribute__((aligned(16)));

static int runner(void* unused) {
    (void)unused;
    while (!done) {
        const u64 got = ((function)(u64)page)();
        must(got == 1 || got == 2, "the instruction is the old or the new one");
    }
    return 0;
}

static void start_runners(void) {
    done = 0;
    for (int i = 0; i < 3; ++i) {
        exited[i] = 1;
        start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, runner, 0, stacks[i] + sizeof stacks[i], &exited[i], 0);
    }
}

static void end_runners(void) {
    done = 1;
    for (int i = 0; i < 3; ++i) wait_cleared(&exited[i]);
}

/// `mov $1,%eax; ret`, whose immediate alternates between 2 and 1.
static void immediate(void) {
    page[0] = 0xb8;
    page[1] = 1;
    page[2] = page[3] = page[4] = 0;
    page[5] = 0xc3;
    start_runners();
    for (int i = 0; i < 2000; ++i) {
        alias[1] = (unsigned char)(1 + (i & 1));
        if (i % 100 == 0) nap_ms(1);
    }
    end_runners();
}

/// One aligned store replaces an instruction of 7 bytes by a jump of 5, as the JVM does to redirect a method's callers.
static void entry(void) {
    static const unsigned char plain[] = {0x48, 0x8d, 0x80, 0, 0, 0, 0, 0x90, 0xb8, 1, 0, 0, 0, 0xc3};
    static const unsigned char other[] = {0xb8, 2, 0, 0, 0, 0xc3};
    union {
        unsigned char bytes[8];
        u64 word;
    } before, after;
    for (unsigned i = 0; i < sizeof plain; ++i) page[i] = plain[i];
    for (unsigned i = 0; i < sizeof other; ++i) page[0x800 + i] = other[i];
    for (unsigned i = 0; i < 8; ++i) before.bytes[i] = after.bytes[i] = plain[i];
    after.bytes[0] = 0xe9;
    after.bytes[1] = 0xfb, after.bytes[2] = 7, after.bytes[3] = after.bytes[4] = 0;
    start_runners();
    for (int i = 0; i < 100000; ++i) {
        *(volatile u64*)alias = i & 1 ? before.word : after.word;
        if (i % 5000 == 0) nap_ms(1);
    }
    end_runners();
}

int program(int argc, char** argv, char** envp) {
    page = alias = map(0, 4096, RWX, 0);
    immediate();
    entry();
    say("own page", 1);
    const long file = sys(__NR_memfd_create, "code", 0);
    sys(__NR_ftruncate, file, 4096);
    page = (unsigned char*)sys(__NR_mmap, 0, 4096, RWX, MAP_SHARED, file, 0);
    alias = (unsigned char*)sys(__NR_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    immediate();
    entry();
    say("through another mapping", 1);
    return 0;
}
