// Flags keep their values across an indirect branch to an address that the engine does not know yet, and whose low 16
// bits, by which it looks addresses up, are those of one that it knows.
#include "tiny.h"

// Each way has two targets 64 KiB apart. The first overwrites the flags, so a translator may destroy them on the way to
// it. The second reads them, and when a branch comes there for the first time only the first one is known.
u64 flags_at_namesake(u64 in, u64 way);
__asm__(
    ".section .namesakes,\"ax\",@progbits\n"
    ".balign 65536\nfirst_targets:\n"
    ".rept 3\n .balign 64\n xor %eax,%eax\n jmp *%r9\n .endr\n"
    ".balign 65536\nsecond_targets:\n"
    ".rept 3\n .balign 64\n pushf\n pop %rax\n jmp *%r9\n .endr\n"
    ".text\n"
    "flags_at_namesake:\n"
    " mov %rsp,%r11\n mov %rsi,%rcx\n shl $6,%rcx\n"
    " lea first_targets(%rip),%rdx\n add %rcx,%rdx\n"
    " lea second_targets(%rip),%r10\n add %rcx,%r10\n"
    " lea namesake_ways(%rip),%r8\n mov (%r8,%rsi,8),%r8\n"
    " and $0xcd5,%edi\n or $2,%edi\n"
    " lea 1f(%rip),%r9\n jmp *%r8\n"  // to the first target, which jumps to 1
    "1: mov %r11,%rsp\n mov %r10,%rdx\n lea 2f(%rip),%r9\n push %rdi\n popf\n jmp *%r8\n"  // to the second
    "2: mov %r11,%rsp\n and $0xcd5,%eax\n cld\n ret\n"
    "n_jump: jmp *%rdx\n"
    "n_call: call *%rdx\n"
    "n_ret: push %rdx\n ret\n"
    ".data\n.balign 8\nnamesake_ways: .quad n_jump, n_call, n_ret\n.text\n");

int program(int argc, char** argv, char** envp) {
    for (u64 way = 0; way < 3; ++way) {
        const u64 got = flags_at_namesake(0xcd5, way);
        say(got == 0xcd5 ? "kept" : "lost", way << 16 | got);
    }
    return 0;
}
