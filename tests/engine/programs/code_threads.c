// One thread changes what another runs: the other sees the change soon, and never a mixture.
#include "tiny_thread.h"

static volatile unsigned char* page;
static volatile int done, exited;
static char stack[65536] __attribute__((aligned(16)));

static int runner(void* unused) {
    (void)unused;
    u64 last = 0;
    while (!done) {
        const u64 got = ((u64(*)(void))(u64)page)();
        must(got == 1 || got == 2, "an instruction is old or new");
        last = got;
    }
    say("last", last == 1 || last == 2);
    return 0;
}

int program(int argc, char** argv, char** envp) {
    page = map(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    page[0] = 0xb8;
    page[1] = 1;
    page[5] = 0xc3;
    exited = 1;
    start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, runner, 0, stack + sizeof stack, &exited, 0);
    for (int i = 0; i < 2000; ++i) {
        page[1] = (unsigned char)(1 + (i & 1));
        if (i % 100 == 0) nap_ms(1);
    }
    done = 1;
    wait_cleared(&exited);
    return 0;
}
