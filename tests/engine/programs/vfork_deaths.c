// A signal ends children of vfork while they run new code, which the engine is translating. Their parent, which shares
// their memory, goes on.
#include "tiny_thread.h"
#include "written_code.h"

enum { kRounds = 50, kFirst = 300, kStep = 70 };  // the last two in microseconds

static unsigned char* code;
static char stack[16384] __attribute__((aligned(16)));

/// Calls code that is new each time.
static unsigned call_new(unsigned value) {
    unsigned result = 0;
    write_code(code, value);
    __asm__ volatile("sub $128,%%rsp\n call *%1\n add $128,%%rsp" : "=a"(result) : "r"(code) : "rcx", "rdx", "memory");
    return result;
}

static int child(void* microseconds) {
    const u64 timer[4] = {0, 0, 0, (u64)microseconds};  // struct itimerval: the interval, then the value
    sys(__NR_setitimer, 0, timer, 0);
    for (unsigned i = 0;; ++i) must(call_new(i) == i, "the child calls new code");
}

int program(int argc, char** argv, char** envp) {
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    code = (unsigned char*)sys(__NR_mmap, 0, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < kRounds; ++i) {
        void* const microseconds = (void*)(kFirst + i * kStep);
        const long pid =
            start_thread(CLONE_VM | CLONE_VFORK | SIGCHLD, child, microseconds, stack + sizeof stack, 0, 0);
        must(wait_status(pid) == SIGALRM, "SIGALRM ends the child");
        must(call_new(77) == 77, "the parent calls new code");
    }
    say("children", kRounds);
    return 0;
}
