// Flags keep their values across jumps, calls, returns, indirect branches and system calls.
#include "tiny.h"

u64 flags_after(u64 in, u64 way);
__asm__(
    ".text\n"
    "flags_after:\n"
    " push %rbx\n"
    " lea ways(%rip),%rax\n mov (%rax,%rsi,8),%rbx\n"
    " and $0xcd5,%edi\n or $2,%edi\n"
    " push %rdi\n popf\n jmp *%rbx\n"
    "w_jmp: jmp 1f\n"
    "w_call: call 2f\n jmp 1f\n"
    "2: ret\n"
    "w_indirect: lea 3f(%rip),%rcx\n jmp *%rcx\n"
    "3: jmp 1f\n"
    "w_icall: lea 2b(%rip),%rdx\n call *%rdx\n jmp 1f\n"
    "w_push_ret: lea 1f(%rip),%r8\n push %r8\n ret\n"
    "w_loop: mov $4,%ecx\n4: loop 4b\n jmp 1f\n"
    "w_jrcxz: xor %r9,%r9\n push %rdi\n popf\n mov $0,%ecx\n jrcxz 1f\n ud2\n"
    "w_jcc: jc 5f\n jz 5f\n jo 5f\n js 5f\n jp 5f\n jmp 1f\n5: jnc 1f\n jmp 1f\n"
    "w_syscall: mov $39,%eax\n syscall\n jmp 1f\n"
    "w_memory: lea 1f(%rip),%rcx\n mov %rcx,-16(%rsp)\n jmp *-16(%rsp)\n"
    "w_ret_imm: lea 1f(%rip),%rcx\n push %rcx\n push %rcx\n ret $8\n"
    "1: pushf\n pop %rax\n and $0xcd5,%eax\n cld\n"
    " lea ways_end(%rip),%rcx\n pop %rbx\n ret\n"
    ".data\n.balign 8\n"
    "ways: .quad w_jmp, w_call, w_indirect, w_icall, w_push_ret, w_loop, w_jrcxz, w_jcc, w_syscall, w_memory, w_ret_imm\n"
    "ways_end:\n.text\n");

u64 chain(u64 a, u64 b);
__asm__(
    ".text\n"
    "chain:\n"  // a carry passed from function to function, as in big-number code
    " mov $8,%ecx\n xor %r8d,%r8d\n clc\n"
    "1: adc %rsi,%rdi\n call step\n dec %ecx\n jnz 1b\n setc %al\n movzbl %al,%eax\n add %r8,%rax\n ret\n"
    "step: rcl $1,%r8\n lea 2f(%rip),%rdx\n jmp *%rdx\n"
    "2: rcr $1,%r8\n rcl $1,%r8\n ret\n");

u64 lahf_seto(u64 in);
__asm__(
    ".text\n"
    "lahf_seto:\n push %rdi\n popf\n seto %al\n lahf\n jmp 1f\n"
    "1: setc %cl\n setp %dl\n movzwl %ax,%eax\n movzbl %cl,%ecx\n movzbl %dl,%edx\n"
    " shl $16,%ecx\n shl $17,%edx\n or %ecx,%eax\n or %edx,%eax\n cld\n ret\n");

int program(int argc, char** argv, char** envp) {
    const u64 sets[] = {0, 1, 4, 0x10, 0x40, 0x80, 0x400, 0x800, 0x8d5, 0xcd5, 0x855};
    for (u64 way = 0; way < 11; ++way)
        for (unsigned i = 0; i < sizeof sets / sizeof *sets; ++i) {
            const u64 got = flags_after(sets[i], way);
            if (got != sets[i]) say("lost", way << 32 | sets[i] << 16 | got);
        }
    say("chain", chain(~0ul, 3));
    say("lahf", lahf_seto(0x8d7));
    say("lahf", lahf_seto(0x2));
    return 0;
}
