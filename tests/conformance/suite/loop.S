/* loop.S: code with a known number of instructions and branches. */
    .text
    .globl conformance_loop
    .type conformance_loop, @function
    .p2align 4
/* void conformance_loop(uint64_t times), times > 0: executes 2 * times + 1 instructions, of which times + 1 are branches
   (jnz, ret). */
conformance_loop:
    dec %rdi
    jnz conformance_loop
    ret
    .size conformance_loop, . - conformance_loop
/* void conformance_tail(uint64_t times): jumps to conformance_loop, which returns to the caller. */
    .globl conformance_tail
    .type conformance_tail, @function
    .p2align 4
conformance_tail:
    jmp conformance_loop
    .size conformance_tail, . - conformance_tail
    .section .note.GNU-stack, "", @progbits
