// rsp as an ordinary register: code that keeps a number in it must run, and nothing may be written near that address.
#include "tiny.h"

u64 stackless(u64* table);
__asm__(
    ".text\n"
    "stackless:\n"
    " mov %rsp,saved(%rip)\n mov %rbx,saved+8(%rip)\n"
    " mov $0x10,%esp\n xor %eax,%eax\n mov $50,%ecx\n"
    "1: add %rsp,%rax\n lea 2f(%rip),%rdx\n jmp *%rdx\n"
    "2: inc %rsp\n dec %ecx\n jnz 1b\n"
    " lea (%rdi),%rsp\n pop %rbx\n add %rbx,%rax\n pop %rbx\n add %rbx,%rax\n"  // a table walked by pop
    " lea 4f(%rip),%rdx\n mov %rdx,16(%rdi)\n ret\n ud2\n"                      // and jumped through by ret
    "4: xchg %rsp,%rdi\n sub %rsp,%rdi\n mov %rdi,8(%rsp,%rdi)\n"
    " mov $39,%r8d\n xor %esp,%esp\n lea 5f(%rip),%r9\n"
    "5: cmp $3,%esp\n je 6f\n inc %esp\n jmp *%r9\n"
    "6: mov saved(%rip),%rsp\n mov saved+8(%rip),%rbx\n ret\n"
    ".bss\n.balign 8\nsaved: .skip 16\n.text\n");

int program(int argc, char** argv, char** envp) {
    u64 table[8] = {11, 22, 33, 44, 55, 66, 77, 88};
    say("sum", stackless(table));
    for (int i = 0; i < 8; ++i)
        if (i != 2) say("table", table[i]);
    return 0;
}
