/* chain.S: a chain of calls with frame pointers and known return addresses, and a store with known register values. */
    .text
    .globl conformance_chain
    .globl conformance_chain_outer
    .globl conformance_chain_inner
    .globl conformance_chain_store
    .type conformance_chain, @function
/* void conformance_chain(char* target): two calls deeper, stores one byte to target. */
conformance_chain:
    push %rbp
    mov %rsp, %rbp
    call conformance_chain_middle
conformance_chain_outer:
    pop %rbp
    ret
    .size conformance_chain, . - conformance_chain

    .type conformance_chain_middle, @function
conformance_chain_middle:
    push %rbp
    mov %rsp, %rbp
    call conformance_chain_leaf
conformance_chain_inner:
    pop %rbp
    ret
    .size conformance_chain_middle, . - conformance_chain_middle

    .type conformance_chain_leaf, @function
conformance_chain_leaf:
    push %rbp
    mov %rsp, %rbp
conformance_chain_store:
    movb $1, (%rdi)
    pop %rbp
    ret
    .size conformance_chain_leaf, . - conformance_chain_leaf

    .globl conformance_entries
    .globl conformance_after_push
    .globl conformance_after_other
    .globl conformance_entry_push
    .globl conformance_entry_other
    .type conformance_entries, @function
/* void conformance_entries(): has a frame, and calls two functions, of which one begins with a push of rbp. */
conformance_entries:
    push %rbp
    mov %rsp, %rbp
    call conformance_entry_push
conformance_after_push:
    call conformance_entry_other
conformance_after_other:
    pop %rbp
    ret
    .size conformance_entries, . - conformance_entries

    .type conformance_entry_push, @function
conformance_entry_push:
    push %rbp
    mov %rsp, %rbp
    pop %rbp
    ret
    .size conformance_entry_push, . - conformance_entry_push

    .type conformance_entry_other, @function
conformance_entry_other:
    nop
    ret
    .size conformance_entry_other, . - conformance_entry_other

    .globl conformance_registers
    .globl conformance_registers_store
    .type conformance_registers, @function
/* uint64_t conformance_registers(char* target): at the store, every general register but rdi and rsp holds 0x100 + its
   number in asm/perf_regs.h, and the words 0x201 and 0x202 are on top of the stack. Returns the value of rsp at the store. */
conformance_registers:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    pushq $0x202
    pushq $0x201
    mov $0x100, %eax
    mov $0x101, %ebx
    mov $0x102, %ecx
    mov $0x103, %edx
    mov $0x104, %esi
    mov $0x106, %ebp
    mov $0x110, %r8d
    mov $0x111, %r9d
    mov $0x112, %r10d
    mov $0x113, %r11d
    mov $0x114, %r12d
    mov $0x115, %r13d
    mov $0x116, %r14d
    mov $0x117, %r15d
conformance_registers_store:
    movb $1, (%rdi)
    mov %rsp, %rax
    add $16, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size conformance_registers, . - conformance_registers
    .section .note.GNU-stack, "", @progbits
