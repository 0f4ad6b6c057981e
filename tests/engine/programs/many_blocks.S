// 3 000 blocks that run once, then 1 000 jumps through a table to as many targets, and 6 000 instructions in a straight line.
.globl _start
_start:
    xor %eax, %eax
.rept 3000
    add $3, %eax
    js 1f
    lea 1(%rax), %eax
    jmp 1f
    ud2
1:
.endr
    xor %ecx, %ecx
next:
    lea table(%rip), %rdx
    jmp *(%rdx,%rcx,8)
.altmacro
.macro place n
place_\n:
    add $\n, %eax
    inc %ecx
    cmp $1000, %ecx
    jb next
    jmp straight
.section .data
    .quad place_\n
.text
.endm
.data
table:
.text
.set i, 0
.rept 1000
    place %i
    .set i, i + 1
.endr
straight:
.rept 2000
    add $7, %eax
    rol $3, %eax
    mov %eax, %edx
.endr
    xor %edx, %edi
    shr $5, %edi
    xor %edx, %edi
    and $0x7f, %edi
    mov $231, %eax
    syscall
