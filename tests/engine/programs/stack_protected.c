// A thread calls and returns while another one takes the rights to its stack away and gives them back. Each access that
// faults is repeated by the program's handler, so nothing is lost and nothing happens twice.
#include "tiny_thread.h"

enum { kPage = 4096, kRounds = 30000 };

static char* page;
static volatile int done, exited = 1;
static volatile u64 faults;
static char stack[65536] __attribute__((aligned(16)));
static char handler_stack[65536] __attribute__((aligned(16)));

static void repeat(int signal, siginfo_t* info, void* context) {
    ++faults;
    sys(__NR_sched_yield);
}

static int change(void* unused) {
    static const int rights[] = {PROT_NONE, PROT_READ};
    for (u64 i = 0; !done; ++i) {
        sys(__NR_mprotect, page, kPage, rights[i & 1]);
        sys(__NR_mprotect, page, kPage, PROT_READ | PROT_WRITE);
        for (volatile u64 n = 0; n < i % 512; ++n) {
        }
    }
    return 0;
}

/// Calls `rounds` times in three ways on the stack `top`. Returns the number of calls that have kept rcx, r11 and CF.
u64 call_often(char* top, u64 rounds);
__asm__(
    ".text\n"
    "call_often:\n"
    " push %rbx\n push %rbp\n push %r12\n push %r13\n mov %rsp,%rbp\n mov %rdi,%rsp\n mov %rsi,%r13\n xor %ebx,%ebx\n"
    " lea 2f(%rip),%r12\n"
    "1: mov $0x1111,%ecx\n mov $0x2222,%r11d\n stc\n"
    " call 2f\n jnc 9f\n cmp $0x1111,%rcx\n jne 9f\n cmp $0x2222,%r11\n jne 9f\n stc\n"
    " call *%r12\n jnc 9f\n cmp $0x1111,%rcx\n jne 9f\n cmp $0x2222,%r11\n jne 9f\n stc\n"
    " call 3f\n jnc 9f\n cmp $0x1111,%rcx\n jne 9f\n cmp $0x2222,%r11\n jne 9f\n"
    " dec %r13\n jnz 1b\n"
    "9: mov %rbx,%rax\n mov %rbp,%rsp\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
    "2: lea 1(%rbx),%rbx\n ret\n"
    "3: lea 1(%rbx),%rbx\n lea 4f(%rip),%rax\n push %rax\n ret\n ud2\n"
    "4: ret\n");

int program(int argc, char** argv, char** envp) {
    const stack_t alternate = {handler_stack, 0, sizeof handler_stack};
    sys(__NR_sigaltstack, &alternate, 0);
    on_signal(SIGSEGV, repeat, SA_ONSTACK, 0);
    page = map(0, kPage, PROT_READ | PROT_WRITE, 0);
    start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, change, 0, stack + sizeof stack, &exited, 0);
    u64 calls = 0;
    for (int i = 0; i < 10000 && faults < 100; ++i) calls = call_often(page + kPage, kRounds);
    done = 1;
    wait_cleared(&exited);
    say("calls", calls);
    say("faults", faults >= 100);
    return 0;
}
