// prctl(2) PR_SET_MDWE, after which the kernel makes no memory writable and executable: code that is both already can still
// be written and runs, new code runs, and requests for more are refused. Older kernels than 6.3 answer EINVAL.
#include "tiny.h"

typedef u64 (*function)(void);

#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)

/// mov $value,%eax; ret
static void write_code(volatile unsigned char* at, unsigned char value) {
    const unsigned char code[] = {0xb8, value, 0, 0, 0, 0xc3};
    for (unsigned i = 0; i < sizeof code; ++i) at[i] = code[i];
}

static u64 call(volatile void* at) {
    __asm__ volatile("" : "+r"(at) : : "memory");
    return ((function)(u64)at)();
}

static u64 rewritten(unsigned char* page) {
    u64 sum = 0;
    for (unsigned i = 0; i < 100; ++i) {
        write_code(page + 64 * (i % 3), (unsigned char)i);
        sum = sum * 7 + call(page + 64 * (i % 3)) + call(page);
    }
    return sum;
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    unsigned char* page = map(0, 4096, RWX, 0);
    unsigned char* late = map(0, 4096, RWX, 0);
    say("before", rewritten(page));
    say("wrong argument", (u64)sys(__NR_prctl, 65, 4, 0, 0, 0));
    say("again", rewritten(page));
    const long set = sys(__NR_prctl, 65, 1, 0, 0, 0);  // PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
    say("set", (u64)set);
    say("get", (u64)sys(__NR_prctl, 66, 0, 0, 0, 0));
    say("same page", rewritten(page));
    say("other page", rewritten(late));
    if (set == 0) {
        say("map", (u64)sys(__NR_mmap, 0, 4096, RWX, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        unsigned char* data = map(0, 4096, PROT_READ | PROT_WRITE, 0);
        say("gain", (u64)sys(__NR_mprotect, data, 4096, PROT_READ | PROT_EXEC));
        say("lose", (u64)sys(__NR_mprotect, late, 4096, PROT_READ | PROT_EXEC));
        say("gain again", (u64)sys(__NR_mprotect, late, 4096, RWX));
        say("code", call(late));
    }
    const long child = sys(__NR_fork);
    if (child == 0) {
        say("in a child", rewritten(page));
        flush();
        sys(__NR_exit_group, 0);
    }
    int status = 0;
    sys(__NR_wait4, child, &status, 0, 0);
    say("child", (u64)status);
    return 0;
}
