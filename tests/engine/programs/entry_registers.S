// At the first instruction every register except rsp is zero, and flags and control words have their initial values.
// The exit status has one bit for each failed check: 1 registers, 2 flags, 4 MXCSR, 8 x87 control word, 16 xmm0 and xmm15.
.globl _start
_start:
    pushf
    pop saved_flags(%rip)
    mov %rsp, saved_rsp(%rip)
    mov %rbp, %rsp                  // rsp collects the other registers
    or %rbx, %rsp
    or %rcx, %rsp
    or %rdx, %rsp
    or %rsi, %rsp
    or %rdi, %rsp
    or %r8, %rsp
    or %r9, %rsp
    or %r10, %rsp
    or %r11, %rsp
    or %r12, %rsp
    or %r13, %rsp
    or %r14, %rsp
    or %r15, %rsp
    or %rax, %rsp
    setnz %dil
    mov saved_rsp(%rip), %rsp
    mov saved_flags(%rip), %eax
    and $0x4cd5, %eax               // status flags, DF, NT
    setnz %sil
    sub $32, %rsp
    stmxcsr (%rsp)
    cmpl $0x1f80, (%rsp)
    setne %dl
    fnstcw (%rsp)
    cmpw $0x37f, (%rsp)
    setne %cl
    movzbl %dil, %edi
    movzbl %sil, %esi
    movzbl %dl, %edx
    movzbl %cl, %ecx
    lea (%rdi,%rsi,2), %rdi
    lea (%rdi,%rdx,4), %rdi
    lea (%rdi,%rcx,8), %rdi
    movq %xmm0, %rax
    movq %xmm15, %rdx
    or %rdx, %rax
    setnz %al
    movzbl %al, %eax
    shl $4, %eax
    add %eax, %edi
    mov $231, %eax
    syscall
.bss
saved_rsp: .skip 8
saved_flags: .skip 8
