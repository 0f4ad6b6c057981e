// Unpaired calls and returns, and every kind of indirect call and jump through a register or memory.
#include "tiny.h"

u64 calls_asm(u64* results);
__asm__(
    ".text\n"
    "calls_asm:\n"
    " push %rbx\n push %rbp\n push %r12\n push %r13\n"
    " mov %rdi,%rbx\n"
    // call/pop gives the program's own address
    " call 1f\n"
    "1: pop %rax\n lea 1b(%rip),%rcx\n sub %rcx,%rax\n mov %rax,(%rbx)\n"
    // push + ret as a jump
    " lea 2f(%rip),%rax\n push %rax\n ret\n ud2\n"
    "2: movq $2,8(%rbx)\n"
    // ret imm16 drops arguments
    " mov %rsp,%r12\n push $1\n push $2\n push $3\n call pops_three\n sub %rsp,%r12\n mov %r12,16(%rbx)\n"
    // call through the stack: the operand's address is taken before the push
    " lea gives_seven(%rip),%rax\n push %rax\n push $0\n call *8(%rsp)\n mov %rax,24(%rbx)\n"
    " call *8(%rsp)\n mov %rax,32(%rbx)\n add $16,%rsp\n"
    " lea gives_seven(%rip),%rax\n push %rax\n call *(%rsp)\n mov %rax,40(%rbx)\n"
    // jmp through the stack
    " lea 3f(%rip),%rax\n mov %rax,(%rsp)\n jmp *(%rsp)\n ud2\n"
    "3: pop %rax\n"
    // a jump table, scaled index and rip-relative base
    " xor %r12d,%r12d\n xor %r13d,%r13d\n"
    "4: lea table(%rip),%rdx\n jmp *(%rdx,%r12,8)\n"
    "t0: add $1,%r13\n jmp 5f\n"
    "t1: add $10,%r13\n jmp 5f\n"
    "t2: add $100,%r13\n"
    "5: inc %r12\n cmp $3,%r12\n jb 4b\n mov %r13,48(%rbx)\n"
    // call through a rip-relative pointer, each register, and with prefixes
    " call *pointer(%rip)\n mov %rax,56(%rbx)\n"
    " lea gives_seven(%rip),%r11\n call *%r11\n lea gives_seven(%rip),%rcx\n call *%rcx\n"
    " lea gives_seven(%rip),%rbp\n notrack call *%rbp\n bnd call gives_seven\n"
    " lea 6f(%rip),%rsi\n jmp *%rsi\n"
    "6: lea gives_seven(%rip),%r13\n call *%r13\n"
    // two returns for one call
    " call outer\n mov %rax,64(%rbx)\n"
    // a call whose target returns elsewhere
    " call moves_on\n ud2\n ud2\n movq $9,72(%rbx)\n"
    // a return through a changed address, far from its call
    " lea 7f(%rip),%rax\n call replaces\n ud2\n"
    "7: movq $10,80(%rbx)\n"
    // rsp itself as operand: push rsp stores the old value, pop (rsp) uses the new one
    " mov %rsp,%rax\n push %rsp\n sub (%rsp),%rax\n mov %rax,88(%rbx)\n pop %rax\n"
    " push $77\n push $88\n pop (%rsp)\n pop %rax\n mov %rax,96(%rbx)\n"
    " push $55\n push (%rsp)\n pop %rax\n pop %rcx\n mov %rax,104(%rbx)\n"
    " push $0x1234\n mov %rsp,%rax\n pop %rsp\n mov %rsp,112(%rbx)\n lea 8(%rax),%rsp\n"
    // rep ret
    " call 8f\n jmp 9f\n"
    "8: rep ret\n"
    "9: pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
    "pops_three: ret $24\n"
    "gives_seven: mov $7,%eax\n ret\n"
    "outer: lea 10f(%rip),%rax\n push %rax\n mov $20,%eax\n ret\n"
    "10: add $3,%eax\n ret\n"
    "moves_on: addq $4,(%rsp)\n ret\n"
    "replaces: mov %rax,(%rsp)\n ret\n"
    ".data\n.balign 8\n"
    "table: .quad t0, t1, t2\n"
    "pointer: .quad gives_seven\n"
    ".text\n");

static u64 depth(u64 n) {
    volatile u64 keep = n;
    return n == 0 ? 0 : depth(n - 1) + keep;
}

int program(int argc, char** argv, char** envp) {
    u64 results[15] = {0};
    calls_asm(results);
    for (int i = 0; i < 15; ++i) say("result", results[i]);
    say("depth", depth(500));
    return 0;
}
