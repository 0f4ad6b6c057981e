// Handlers that end by a jump, as by siglongjmp, many times: the engine must not keep state for their returns.
#include "tiny.h"

struct place {
    u64 rbx, rbp, r12, r13, r14, r15, rsp, rip;
};

__attribute__((returns_twice)) int save_place(struct place* place);
__attribute__((noreturn)) void restore_place(const struct place* place, int value);
__asm__(
    ".text\n"
    "save_place: mov %rbx,(%rdi)\n mov %rbp,8(%rdi)\n mov %r12,16(%rdi)\n mov %r13,24(%rdi)\n mov %r14,32(%rdi)\n mov %r15,40(%rdi)\n"
    " lea 8(%rsp),%rax\n mov %rax,48(%rdi)\n mov (%rsp),%rax\n mov %rax,56(%rdi)\n xor %eax,%eax\n ret\n"
    "restore_place: mov %esi,%eax\n mov (%rdi),%rbx\n mov 8(%rdi),%rbp\n mov 16(%rdi),%r12\n mov 24(%rdi),%r13\n mov 32(%rdi),%r14\n"
    " mov 40(%rdi),%r15\n mov 48(%rdi),%rsp\n jmp *56(%rdi)\n");

static struct place place;
static char stack[16384];

static void handler(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    change_mask(SIG_UNBLOCK, MASK_OF(signal));
    restore_place(&place, signal);
}

int program(int argc, char** argv, char** envp) {
    on_signal(SIGUSR1, handler, 0, 0);
    on_signal(SIGSEGV, handler, SA_ONSTACK, 0);
    stack_t mine = {stack, 0, sizeof stack};
    sys(__NR_sigaltstack, &mine, 0);
    volatile u64 sum = 0, times = 0;
    const int signal = save_place(&place);
    sum = sum * 3 + (u64)signal;
    if (times < 200) {
        times = times + 1;
        if (times & 1)
            raise_here(SIGUSR1);
        else
            *(volatile char*)8 = 1;
    }
    say("times", times);
    say("sum", sum);
    return 0;
}
