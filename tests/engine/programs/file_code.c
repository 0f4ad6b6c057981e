// Code in a private mapping of a file: it is what the file says now, until it is written itself; beyond the file's end
// it is SIGBUS.
#include "tiny.h"

typedef int function(void);
static const unsigned char returns_1[] = {0xb8, 1, 0, 0, 0, 0xc3};
static const unsigned char returns_2[] = {0xb8, 2, 0, 0, 0, 0xc3};
static const unsigned char returns_3[] = {0xb8, 3, 0, 0, 0, 0xc3};
static u64 after_fault;

static void skip(int signal, siginfo_t* info, void* context) {
    say("signal", (u64)signal);
    say("code", (u64)info->si_code);
    registers_of(context)[REG_RIP] = (greg_t)after_fault;
    registers_of(context)[REG_RSP] += 8;  // the call has pushed its return address
}

static void call_faulting(function* code) {
    __asm__ volatile(
        "sub $128,%%rsp\n lea 1f(%%rip),%%rax\n mov %%rax,%0\n call *%1\n1: add $128,%%rsp\n"
        : "=m"(after_fault)  // absolute or relative to rip, and not to rsp
        : "r"(code)
        : "rax", "rcx", "rdx", "memory");
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    const long fd = sys(__NR_memfd_create, "code", 0);
    must(fd >= 0 && sys(__NR_ftruncate, fd, 8192) == 0, "a file");
    sys(__NR_pwrite64, fd, returns_1, sizeof returns_1, 0);
    sys(__NR_pwrite64, fd, returns_1, sizeof returns_1, 4096);
    char* const code = (char*)sys(__NR_mmap, 0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 0);
    must((u64)code < -4096ul, "mmap");
    function* const call = (function*)code;
    function* const next = (function*)(code + 4096);
    say("at first", (u64)call() + (u64)next());
    sys(__NR_pwrite64, fd, returns_2, sizeof returns_2, 0);
    say("file written", (u64)call());
    const long child = sys(__NR_fork);
    if (child == 0) {
        sys(__NR_pwrite64, fd, returns_3, sizeof returns_3, 0);
        sys(__NR_exit, 0);
    }
    wait_status(child);
    say("written by another process", (u64)call());
    memcpy(code, returns_1, sizeof returns_1);
    sys(__NR_pwrite64, fd, returns_2, sizeof returns_2, 0);
    say("mapping written", (u64)call());
    on_signal(SIGBUS, skip, 0, 0);
    sys(__NR_ftruncate, fd, 4096);
    call_faulting(next);
    sys(__NR_ftruncate, fd, 8192);
    sys(__NR_pwrite64, fd, returns_3, sizeof returns_3, 4096);
    say("file grown again", (u64)next());
    return 0;
}
