// Calls, jumps and returns to addresses without code: null, the first page, kernel addresses. The fault must be the native one.
#include "tiny.h"

static volatile u64 faults;

static void on_fault(int number, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    const u64 target = r[REG_RBX];
    say("signal", number);
    say("  code", info->si_code);
    say("  address", (u64)info->si_addr);
    say("  there", (u64)r[REG_RIP] == target);
    say("  rsp", r[REG_RBP] - r[REG_RSP]);
    ++faults;
    r[REG_RSP] = r[REG_RBP];
    r[REG_RIP] = r[REG_R12];
}

int program(int argc, char** argv, char** envp) {
    static const u64 kTargets[] = {0, 0x10, 0xfff, 0xffffffff80000000, 0xffffffffff5ff000};
    on_signal(SIGSEGV, on_fault, SA_NODEFER, 0);
    on_signal(SIGBUS, on_fault, SA_NODEFER, 0);
    for (unsigned i = 0; i < sizeof kTargets / sizeof *kTargets; ++i) {
        register u64 target __asm__("rbx") = kTargets[i];
        __asm__ volatile("push %%rbp\n sub $256,%%rsp\n mov %%rsp,%%rbp\n lea 1f(%%rip),%%r12\n call *%%rbx\n1:\n"
                         "lea 2f(%%rip),%%r12\n jmp *%%rbx\n2:\n lea 3f(%%rip),%%r12\n push %%rbx\n ret\n3:\n"
                         "add $256,%%rsp\n pop %%rbp"
                         : "+r"(target)
                         :
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "memory");
    }
    say("faults", faults);
    return 0;
}
