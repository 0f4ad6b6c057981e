// Far returns, jumps and calls (16:32 pointers, which every vendor supports) within the 64-bit code segment, and iretq.
#include "tiny.h"

u64 far_branches(void);
__asm__(
    ".text\n"
    "far_branches:\n"
    " mov %cs,%ecx\n xor %eax,%eax\n"
    " push %rcx\n lea 1f(%rip),%rdx\n push %rdx\n lretq\n ud2\n"
    "1: add $1,%rax\n"
    " sub $16,%rsp\n lea 2f(%rip),%rdx\n mov %edx,(%rsp)\n mov %cx,4(%rsp)\n ljmp *(%rsp)\n ud2\n"
    "2: add $2,%rax\n lea 3f(%rip),%rdx\n mov %edx,(%rsp)\n lcall *(%rsp)\n jmp 4f\n"
    "3: add $4,%rax\n lretl\n"
    "4: add $16,%rsp\n"
    " mov %rsp,%rdx\n mov %ss,%esi\n push %rsi\n push %rdx\n pushf\n push %rcx\n lea 5f(%rip),%rdx\n push %rdx\n iretq\n ud2\n"
    "5: add $8,%rax\n ret\n");

int program(int argc, char** argv, char** envp) {
    say("steps", far_branches());
    return 0;
}
