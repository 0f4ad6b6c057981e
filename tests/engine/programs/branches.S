// Every conditional branch, taken and not, near and short, forward and back; +0 branches; loop and jrcxz in all forms.
.globl _start
.macro each cc
    mov $0, %r12d
1:  mov %r12, %rax                  // flags from 0 to 0xff by sahf, OF by add
    mov %al, %ah
    mov %r12b, %bl
    add $0x60, %bl
    sahf
    j\cc 2f
    inc %r13
2:  j\cc 3f
    nop
3:  .byte 0x0f                      // the near form of jcc, to the next instruction
    .byte 0x80 + (\@ % 16)
    .long 0
    add $17, %r12d
    cmp $255, %r12d
    jb 1b
.endm
_start:
    xor %r13d, %r13d
    each o
    each no
    each b
    each ae
    each e
    each ne
    each be
    each a
    each s
    each ns
    each p
    each np
    each l
    each ge
    each le
    each g
    mov $5, %ecx
1:  inc %r13
    loop 1b
    mov $9, %ecx
1:  dec %r13
    test $0xff, %r13b
    loopne 1b
    mov $9, %ecx
1:  inc %r13
    cmp %eax, %eax
    loope 1b
    movabs $0x100000003, %rcx       // 67: ecx counts, and the upper half is cleared
1:  inc %r13
    addr32 loop 1b
    add %rcx, %r13
    mov $1, %ecx
    loop 1f                         // falls through
    inc %r13
1:  jrcxz 1f
    inc %r13
1:  movabs $0x100000000, %rcx
    jrcxz 1f                        // not taken: rcx is not zero
    inc %r13
1:  jecxz 1f                        // taken: ecx is
    add $1000, %r13
1:  jmp 2f
    ud2
.skip 300
2:  .byte 0xe9, 0, 0, 0, 0
    .byte 0xeb, 0
    bnd jmp 3f
3:  notrack jmp *target(%rip)
4:  mov %r13d, %edi
    and $0x7f, %edi
    mov $231, %eax
    syscall
.data
target: .quad 4b
