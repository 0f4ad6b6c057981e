// The smallest program: two system calls.
.globl _start
_start:
    mov $1, %eax
    mov $1, %edi
    lea text(%rip), %rsi
    mov $6, %edx
    syscall
    mov $60, %eax
    xor %edi, %edi
    syscall
.section .rodata
text: .ascii "hello\n"
