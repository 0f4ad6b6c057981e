// Faults at exact instructions: signal, si_code, si_addr, rip, trap number and error code. The handler skips the instruction
// or returns from the call.
#include "tiny.h"

extern char f_load[], f_store[], f_rmw[], f_push[], f_call[], f_ret[], f_gp[], f_ud2[], f_int3[], f_div[], f_hlt[], f_exec[], f_sse[],
    f_movs[], f_jmp[], f_readonly[], f_xlat[], f_int1[], f_int80gp[], f_after[];

static volatile u64 skip;

static void handler(int signal, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    say("signal", (u64)signal);
    say(" code", (u64)(unsigned)info->si_code);
    say(" rip", (u64)r[REG_RIP] - (u64)f_load);
    const u64 at = (u64)info->si_addr;
    say(" address", at >= (u64)f_load && at < (u64)f_after ? at - (u64)f_load : at);
    say(" trap", (u64)r[REG_TRAPNO]);
    say(" error", (u64)r[REG_ERR]);
    say(" rax", (u64)r[REG_RAX]);
    r[REG_RIP] += (greg_t)skip;
    r[REG_R9] += 1;
}

static void return_to_caller(int signal, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    say("fetch", (u64)signal);
    say(" code", (u64)(unsigned)info->si_code);
    say(" rip", (u64)r[REG_RIP]);
    say(" address", (u64)info->si_addr);
    say(" error", (u64)r[REG_ERR] & ~0x10ul);
    r[REG_RIP] = *(greg_t*)r[REG_RSP];  // as if it had returned
    r[REG_RSP] += 8;
}

#define FAULT(label, text, length)                                                                     \
    do {                                                                                               \
        skip = length;                                                                                 \
        u64 n = 0;                                                                                     \
        __asm__ volatile("mov %2,%%r9\n mov $0x1111,%%eax\n mov $3,%%ecx\n1: dec %%ecx\n jnz 1b\n inc %%eax\n .globl " #label "\n" #label ": " text \
                         "\n inc %%r9\n mov %%r9,%0"                                                   \
                         : "=r"(n) : "r"(page), "r"(n) : "rax", "rcx", "rdx", "rsi", "rdi", "r9", "r10", "xmm0", "memory", "cc"); \
        say(#label, n);                                                                                \
    } while (0)

int program(int argc, char** argv, char** envp) {
    const u64 page = 0x7000;
    on_signal(SIGSEGV, handler, 0, 0);
    on_signal(SIGILL, handler, 0, 0);
    on_signal(SIGFPE, handler, 0, 0);
    on_signal(SIGTRAP, handler, SA_NODEFER, 0);
    on_signal(SIGBUS, handler, 0, 0);
    FAULT(f_load, "mov 0x10(%1),%%rdx", 4);
    FAULT(f_store, "movl $5,0x20(%1)", 7);
    FAULT(f_rmw, "addq $1,0x30(%1)", 5);
    FAULT(f_push, "push 0x40(%1)", 3);
    FAULT(f_call, "call *0x50(%1)", 3);
    FAULT(f_jmp, "jmp *0x58(%1)", 3);
    FAULT(f_gp, "movabs $0x8000000000000000,%%rdx\n mov (%%rdx),%%rdx", 3);
    FAULT(f_ud2, "ud2", 2);
    FAULT(f_int3, "int3", 0);
    FAULT(f_hlt, "hlt", 1);
    FAULT(f_div, "xor %%ecx,%%ecx\n div %%ecx", 2);
    FAULT(f_sse, "movups 0x60(%1),%%xmm0", 4);
    FAULT(f_movs, "mov %1,%%rsi\n mov %1,%%rdi\n movsb", 1);
    FAULT(f_readonly, "movb $1,f_readonly(%%rip)", 7);
    FAULT(f_exec, "int $0x21", 2);
    __asm__ volatile("f_after:");
    on_signal(SIGSEGV, return_to_caller, 0, 0);
    void (*volatile nowhere)(void) = (void (*)(void))0x12345000;
    nowhere();
    static long data[4] __attribute__((aligned(16))) = {(long)0xc3c3c3c3c3c3c3c3};
    void (*volatile in_data)(void) = (void (*)(void))data;
    char* volatile gone = map(0, 4096, PROT_READ | PROT_WRITE, 0);
    *gone = (char)0xc3;
    say("in data", (u64)in_data == (u64)data);
    on_signal(SIGSEGV, return_to_caller, 0, 0);
    in_data();
    return 0;
}
