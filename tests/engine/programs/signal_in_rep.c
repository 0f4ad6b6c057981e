// A fault in the middle of a REP instruction: rcx, rsi and rdi show the progress; the handler makes the page accessible and
// the instruction resumes.
#include "tiny.h"

static char* pages;

static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal;
    greg_t* r = registers_of(context);
    say("address", (u64)info->si_addr - (u64)pages);
    say("rcx", (u64)r[REG_RCX]);
    say("rdi", (u64)r[REG_RDI] - (u64)pages);
    sys(__NR_mprotect, (u64)info->si_addr & ~4095ul, 4096, PROT_READ | PROT_WRITE);
}

int program(int argc, char** argv, char** envp) {
    on_signal(SIGSEGV, handler, 0, 0);
    pages = map(0, 16384, PROT_NONE, 0);
    sys(__NR_mprotect, pages, 4096, PROT_READ | PROT_WRITE);
    char* to = pages + 4000;
    u64 count = 500;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0x5a) : "memory");
    say("left", count);
    const char* from = pages + 4400;
    count = 700;
    to = pages + 8000;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    say("left", count);
    u64 sum = 0;
    for (int i = 4000; i < 16384; i += 8) sum = sum * 3 + *(u64*)(pages + i);
    say("sum", sum);
    return 0;
}
