// rt_sigreturn of frames that a handler has edited: selectors, flags, floating-point state and alternate stack; and
// SA_RESETHAND. Each child ends as natively.
#include "tiny.h"

static int edit;
static volatile u64 sink;
static char alternate[16384];

static void on_segv(int signal, siginfo_t* info, void* context) {
    const ucontext_t* uc = context;
    say("si_code", (u64)(unsigned)info->si_code);
    say("si_addr", (u64)info->si_addr);
    say("rbx", (u64)uc->uc_mcontext.gregs[REG_RBX]);
    exit_program(33);
}

static void on_usr1(int signal, siginfo_t* info, void* context) {
    ucontext_t* uc = context;
    greg_t* r = uc->uc_mcontext.gregs;
    r[REG_RBX] = 0x1234;
    switch (edit) {
        case 0: break;
        case 1: r[REG_CSGSFS] = (r[REG_CSGSFS] & ~0xffffll) | 0x7770; break;                 // cs
        case 2: r[REG_CSGSFS] = (r[REG_CSGSFS] & 0xffffffffffffll) | (0x77ll << 48); break;  // ss
        case 3: r[REG_RIP] = (greg_t)0x8000000000000000ull; break;
        case 4: uc->uc_mcontext.fpregs = (void*)0x10; break;
        case 5: uc->uc_mcontext.fpregs->mxcsr = 0xffffffff; break;
        case 6: uc->uc_mcontext.fpregs = (void*)((char*)uc->uc_mcontext.fpregs + 8); break;
        case 7: r[REG_EFL] = (greg_t)0xfffffffffffffeffull & ~0x40000; break;  // all but TF and AC
        case 8: uc->uc_stack.ss_flags = 77, uc->uc_stack.ss_sp = (void*)0x1000; break;
        case 9: uc->uc_stack.ss_size = 1, uc->uc_stack.ss_sp = (void*)0x1000; break;
        case 10: uc->uc_mcontext.fpregs = 0; break;
        case 11: r[REG_CSGSFS] = (r[REG_CSGSFS] & ~0xffffll); break;  // cs 0
        default: break;
    }
}

static void child(void) {
    stack_t stack = {alternate, 0, sizeof alternate}, now = {0, 0, 0};
    sys(__NR_sigaltstack, &stack, 0);
    on_signal(SIGSEGV, on_segv, 0x08000000, 0);
    on_signal(SIGUSR1, on_usr1, 0, 0);
    sys(__NR_kill, sys(__NR_getpid), SIGUSR1);
    u64 flags;
    __asm__ volatile("pushf\n\tpop %0\n\tpush $0x202\n\tpopf" : "=r"(flags));
    say("flags", flags & ~0x8d5ul);
    sys(__NR_sigaltstack, 0, &now);
    say("stack", now.ss_sp == alternate);
    say("stack flags", (u64)(unsigned)now.ss_flags);
    exit_program(0);
}

static void no_action(int signal, siginfo_t* info, void* context) {
    sink = 1;
}

int program(int argc, char** argv, char** envp) {
    for (edit = 0; edit < 12; ++edit) {
        say("edit", (u64)edit);
        flush();
        const long pid = sys(__NR_fork);
        if (pid == 0) child();
        say("status", (u64)wait_status(pid));
    }
    on_signal(SIGUSR2, no_action, 0x80000000, 0);  // SA_RESETHAND
    sys(__NR_kill, sys(__NR_getpid), SIGUSR2);
    struct action after;
    sys(__NR_rt_sigaction, SIGUSR2, 0, &after, 8);
    say("reset", (u64)after.handler);
    say("flags", after.flags);
    return 0;
}
