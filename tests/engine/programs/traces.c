// Loops that leave the path that they have taken so far: returns to another address, functions through a pointer that
// changes, branches that alternate, code that changes in one of its pages, a fork in the middle. Flags are live across
// the branches.
#include "tiny.h"

enum { kPage = 4096, kRounds = 300 };

/// Each round calls a function that returns behind the call, but every seventh round to another place, with carry set
/// and alive in both.
u64 return_elsewhere(u64 rounds);
__asm__(
    ".text\n"
    "return_elsewhere:\n"
    " push %rbx\n mov %rdi,%rbx\n xor %eax,%eax\n xor %esi,%esi\n mov $3,%ecx\n mov $4,%r11d\n"
    "1: call 5f\n"
    " adc $1,%rax\n"
    "2: add %rcx,%rax\n add %r11,%rax\n dec %rbx\n jnz 1b\n pop %rbx\n ret\n"
    "3: adc $0x1000,%rax\n jmp 2b\n"
    "5: inc %esi\n cmp $7,%esi\n je 6f\n stc\n ret\n"
    "6: xor %esi,%esi\n lea 3b(%rip),%rdx\n mov %rdx,(%rsp)\n stc\n ret\n");

/// Each round calls and jumps through words, which the callee changes in every eleventh round.
u64 through_words(u64 rounds);
__asm__(
    "through_words:\n"
    " push %rbx\n mov %rdi,%rbx\n xor %eax,%eax\n xor %esi,%esi\n mov $3,%ecx\n mov $4,%r11d\n"
    "1: stc\n call *called_word(%rip)\n"
    " adc $1,%rax\n add %rcx,%rax\n add %r11,%rax\n dec %rbx\n jnz 1b\n pop %rbx\n ret\n"
    "first_called: lea 1(%rsi),%rsi\n jmp *jumped_word(%rip)\n"
    "second_called: adc $0x100,%rax\n stc\n jmp *jumped_word(%rip)\n"
    "first_jumped: cmp $11,%esi\n je 4f\n stc\n ret\n"
    "4: xor %esi,%esi\n lea second_called(%rip),%rdx\n xchg %rdx,called_word(%rip)\n"
    " lea second_jumped(%rip),%rdx\n mov %rdx,jumped_word(%rip)\n stc\n ret\n"
    "second_jumped: adc $0x10000,%rax\n lea first_called(%rip),%rdx\n mov %rdx,called_word(%rip)\n"
    " lea first_jumped(%rip),%rdx\n mov %rdx,jumped_word(%rip)\n stc\n ret\n"
    ".data\n.balign 8\ncalled_word: .quad first_called\njumped_word: .quad first_jumped\n.text\n");

/// Recursion with a return address for each call, and both ways of a branch.
__attribute__((noinline)) static u64 fibonacci(u64 n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/// A loop in one page calls a function in another page. Now and then a byte of one of them changes.
static void changing_pages(void) {
    // push %rbx; mov %rdi,%rbx; xor %ecx,%ecx; 1: call the other page; lea VALUE(%rcx,%rax),%ecx; dec %rbx; jnz 1b;
    // mov %ecx,%eax; pop %rbx; ret
    static const unsigned char loop[] = {0x53, 0x48, 0x89, 0xfb, 0x31, 0xc9, 0xe8, 0xf5, 0x0f, 0,    0,    0x8d,
                                         0x4c, 0x01, 1,    0x48, 0xff, 0xcb, 0x75, 0xf2, 0x89, 0xc8, 0x5b, 0xc3};
    // jmp +0; mov $VALUE,%eax; ret
    static const unsigned char function[] = {0xeb, 0, 0xb8, 5, 0, 0, 0, 0xc3};
    unsigned char* const pages = map(0, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    memcpy(pages, loop, sizeof loop);
    memcpy(pages + kPage, function, sizeof function);
    u64 (*const run)(u64) = (u64(*)(u64))(u64)pages;
    for (int i = 0; i < 12; ++i) {
        say("loop", run(50));
        if (i % 3 == 0) pages[kPage + 3] = (unsigned char)(6 + i);
        if (i % 3 == 1) pages[14] = (unsigned char)(2 + i);
    }
    sys(__NR_munmap, pages + kPage, kPage);
    map(pages + kPage, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_FIXED);
    memcpy(pages + kPage, function, sizeof function);
    say("mapped anew", run(50));
}

/// A loop whose callee writes to the loop's own code, after the call.
static void changing_itself(void) {
    // push %rbx; mov $40,%ebx; xor %eax,%eax; 1: jmp 2f; 2: incb the immediate of the next instruction; add $1,%eax;
    // dec %ebx; jnz 1b; pop %rbx; ret
    static const unsigned char loop[] = {0x53, 0xbb, 40,   0, 0, 0, 0x31, 0xc0, 0xeb, 0,    0xfe, 0x05, 1,   0,
                                         0,    0,    0x05, 1, 0, 0, 0,    0xff, 0xcb, 0x75, 0xef, 0x5b, 0xc3};
    unsigned char* const page = map(0, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    memcpy(page, loop, sizeof loop);
    for (int i = 0; i < 3; ++i) say("itself", ((u64(*)(void))(u64)page)());
}

static void forks(void) {
    u64 sum = 0;
    for (u64 i = 0; i < 40; ++i) {
        sum += fibonacci(5) + (i & 1);
        if (i != 30) continue;
        const long child = sys(__NR_fork);
        if (child == 0) {
            for (u64 j = 0; j < 40; ++j) sum += fibonacci(6) + (j & 1);
            sys(__NR_exit_group, (long)(sum & 0x7f));
        }
        say("child", (u64)wait_status(child));
    }
    say("parent", sum);
}

int program(int argc, char** argv, char** envp) {
    for (int i = 0; i < 2; ++i) {
        say("elsewhere", return_elsewhere(kRounds));
        say("words", through_words(kRounds));
        say("fibonacci", fibonacci(12));
    }
    changing_pages();
    changing_itself();
    forks();
    return 0;
}
