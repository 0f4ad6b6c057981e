/* loop.S: code whose instructions and branches are counted by hand. */
    .text
    .globl conformance_loop
    .type conformance_loop, @function
    .p2align 4
/* void conformance_loop(uint64_t times), times > 0: 2 * times + 1 instructions, times + 1 branches (jnz, ret). */
conformance_loop:
    dec %rdi
    jnz conformance_loop
    ret
    .size conformance_loop, . - conformance_loop
    .section .note.GNU-stack, "", @progbits
