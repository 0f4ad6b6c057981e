// The context of a signal handler has the program's own registers, flags and vectors, and changes to it take effect.
#include "tiny.h"

static u64 seen[17];

static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info;
    greg_t* r = registers_of(context);
    for (int i = 0; i < 15; ++i) seen[i] = (u64)r[i];
    seen[15] = (u64)r[REG_EFL] & 0xcd5;
    seen[16] = (u64)r[REG_RIP];
    struct _libc_fpstate* fp = ((ucontext_t*)context)->uc_mcontext.fpregs;
    say("xmm7", *(u64*)&fp->_xmm[7]);
    say("mxcsr", fp->mxcsr);
    say("cwd", fp->cwd);
    *(u64*)&fp->_xmm[7] = 0x7777;
    fp->mxcsr = 0x3f80;
    u64 flags;
    __asm__ volatile("pushf\n pop %0" : "=r"(flags));
    say("df in handler", flags & 0x400);
    r[REG_RBX] = 0xb0b;
    r[REG_R15] += 1;
    r[REG_EFL] = (r[REG_EFL] & ~0x8d5) | 0x41;
    r[REG_RIP] += 2;  // skips the ud2
    __asm__ volatile("pxor %%xmm7,%%xmm7\n fld1\n" : : : "xmm7");
}

u64 run_with_all_registers_set(u64* out);
__asm__(
    ".text\n"
    "run_with_all_registers_set:\n"
    " push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n push %rdi\n"
    " mov $0x101,%eax\n mov $0x202,%ebx\n mov $0x303,%ecx\n mov $0x404,%edx\n mov $0x505,%esi\n mov $0x606,%edi\n mov $0x707,%ebp\n"
    " mov $0x808,%r8d\n mov $0x909,%r9d\n mov $0xa0a,%r10d\n mov $0xb0b,%r11d\n mov $0xc0c,%r12d\n mov $0xd0d,%r13d\n mov $0xe0e,%r14d\n mov $0xf0f,%r15d\n"
    " movq %rax,%xmm7\n pushq $0x895\n popf\n std\n"
    ".globl the_ud2\nthe_ud2: ud2\n"
    " pushf\n cld\n pop %rax\n pop %rdi\n and $0xcd5,%eax\n mov %rax,(%rdi)\n mov %rbx,8(%rdi)\n mov %r15,16(%rdi)\n movq %xmm7,24(%rdi)\n"
    " sub $8,%rsp\n stmxcsr (%rsp)\n mov (%rsp),%eax\n movl $0x1f80,(%rsp)\n ldmxcsr (%rsp)\n add $8,%rsp\n mov %rax,32(%rdi)\n"
    " mov %r14,40(%rdi)\n fnstsw %ax\n movzwl %ax,%eax\n mov %rax,48(%rdi)\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");
extern char the_ud2[];

int program(int argc, char** argv, char** envp) {
    on_signal(SIGILL, handler, 0, 0);
    u64 out[7];
    run_with_all_registers_set(out);
    for (int i = 0; i < 15; ++i) say("register", i == REG_RDI || seen[i] < 0x10000 ? seen[i] : 0);
    say("flags", seen[15]);
    say("rip", seen[16] == (u64)the_ud2);
    for (int i = 0; i < 7; ++i) say("after", out[i]);
    return 0;
}
