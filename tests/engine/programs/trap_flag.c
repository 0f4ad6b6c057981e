// A program that single-steps itself by the trap flag gets a SIGTRAP after each instruction, with TRAP_TRACE and the
// address of the next one, until it clears the flag: by popf, or in the handler's context.
#include "tiny.h"

extern char stepped_start[], after_cpuid[];
static u64 steps[256];
static int count;
static int end_after;  // clears the flag in the context at this step; 0: never
static u64 last_code, last_address_is_rip, flag_in_context;

static void handler(int signal, siginfo_t* info, void* context) {
    greg_t* r = registers_of(context);
    u64 flags;
    __asm__ volatile("pushf\n pop %0" : "=r"(flags));
    (void)signal;
    // Under some hypervisors the step of an instruction that they emulate is lost.
    if (r[REG_RIP] == (greg_t)after_cpuid) return;
    if (count < 256) steps[count] = (u64)r[REG_RIP] - (u64)stepped_start;
    last_code = (u64)info->si_code;
    last_address_is_rip = info->si_addr == (void*)r[REG_RIP];
    flag_in_context = (u64)r[REG_EFL] & 0x100;
    ++count;
    if ((flags & 0x100) != 0) say("flag in the handler", flags);
    if (count == end_after) r[REG_EFL] &= ~0x100;
}

// Sets the flag, runs instructions of all kinds, and clears the flag.
u64 run_stepped(u64 rounds, u64* memory);
__asm__(
    ".text\n"
    ".globl stepped_start\nstepped_start:\n"
    "run_stepped:\n"
    " push %rbx\n push %r12\n mov %rsi,%r12\n"
    " pushf\n orl $0x100,(%rsp)\n popf\n"
    " nop\n"
    " mov %rdi,%rcx\n"
    "1: add $3,%rax\n dec %rcx\n jnz 1b\n"
    " call 2f\n"
    " lea 3f(%rip),%rdx\n jmp *%rdx\n"
    "3: pushf\n pop %r8\n mov %r8,(%r12)\n"
    " cpuid\n"
    ".globl after_cpuid\nafter_cpuid:\n xor %eax,%eax\n"
    " mov $39,%eax\n syscall\n"
    " mov $3,%ecx\n lea 8(%r12),%rdi\n lea 64(%r12),%rsi\n cld\n rep movsb\n"
    " xor %ecx,%ecx\n rep stosb\n"
    " movq %r12,%xmm3\n lock incq (%r12)\n"
    " pushf\n andl $~0x100,(%rsp)\n popf\n"
    " nop\n nop\n"
    " mov $1,%eax\n pop %r12\n pop %rbx\n ret\n"
    "2: inc %r9\n ret\n");

static void run(const char* what, u64 rounds, int end) {
    static u64 memory[64];
    count = 0;
    end_after = end;
    run_stepped(rounds, memory);
    say(what, (u64)count);
    for (int i = 0; i < count && i < 256; ++i) say("step", steps[i]);
    say("pushed flag", memory[0] & 0x100);
    say("code", last_code);
    say("address is rip", last_address_is_rip);
    say("flag in context", flag_in_context);
}

static void set_in_context(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info;
    registers_of(context)[REG_EFL] |= 0x100;
    registers_of(context)[REG_RIP] += 2;  // skips the ud2
}

int program(int argc, char** argv, char** envp) {
    on_signal(SIGTRAP, handler, 0, 0);
    run("all", 4, 0);
    run("until the handler ends it", 4, 9);
    run("again", 1, 0);
    // The flag begins in another handler's context.
    on_signal(SIGILL, set_in_context, 0, 0);
    count = 0;
    end_after = 3;
    __asm__ volatile("ud2\n nop\n nop\n nop\n nop\n");
    say("from a context", (u64)count);
    // A trap that is blocked kills, as every fault.
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        const u64 mask = 1ul << (SIGTRAP - 1);
        sys(__NR_rt_sigprocmask, 0, &mask, 0, 8);
        __asm__ volatile("pushf\n orl $0x100,(%%rsp)\n popf\n nop\n nop\n" : : : "memory", "cc");
        sys(__NR_exit_group, 0);
    }
    int status = 0;
    sys(__NR_wait4, child, &status, 0, 0);
    say("status of a child that blocks it", (u64)status);
    return 0;
}
