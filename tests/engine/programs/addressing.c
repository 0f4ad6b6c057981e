// Memory operands in every form: rip-relative with each immediate size and encoding, moffs, segments, 32-bit addresses.
#include "tiny.h"

u64 addressing(u64* results);
__asm__(
    ".data\n.balign 64\n"
    "words: .quad 0x1122334455667788, 0x99aabbccddeeff00, 3, 4\n"
    "floats: .long 0x3f800000, 0x40000000, 0x40400000, 0x40800000\n"
    "scratch: .skip 64\n"
    ".text\n"
    "addressing:\n"
    " push %rbx\n mov %rdi,%rbx\n"
    " lea words(%rip),%rax\n mov (%rax),%rcx\n mov %rcx,(%rbx)\n"
    " mov words+4(%rip),%ecx\n mov %rcx,8(%rbx)\n"
    " movzbl words+1(%rip),%ecx\n movswq words+6(%rip),%rdx\n add %rdx,%rcx\n mov %rcx,16(%rbx)\n"
    " movb $0x5a,scratch(%rip)\n movw $0x1234,scratch+2(%rip)\n movl $0x789abcde,scratch+4(%rip)\n"
    " movq $-5,scratch+8(%rip)\n"
    " mov scratch(%rip),%rcx\n mov %rcx,24(%rbx)\n mov scratch+8(%rip),%rcx\n mov %rcx,32(%rbx)\n"
    " cmpb $0x5a,scratch(%rip)\n sete %cl\n cmpw $0x1235,scratch+2(%rip)\n setb %dl\n"
    " cmpl $0x789abcde,scratch+4(%rip)\n sete %sil\n cmpq $-5,scratch+8(%rip)\n sete %dil\n"
    " add %dl,%cl\n add %sil,%cl\n add %dil,%cl\n movzbl %cl,%ecx\n mov %rcx,40(%rbx)\n"
    " movabs $0x8899aabbccddeeff,%rax\n mov %rax,scratch+16(%rip)\n"
    " shlq $3,scratch+16(%rip)\n rorl $5,scratch+16(%rip)\n shrw scratch+20(%rip)\n mov $4,%cl\n sarq %cl,scratch+16(%rip)\n"
    " btsq $63,scratch+16(%rip)\n incw scratch+18(%rip)\n notl scratch+20(%rip)\n lock addq $7,scratch+16(%rip)\n"
    " mov scratch+16(%rip),%rcx\n mov %rcx,48(%rbx)\n"
    " imul $1000,words+16(%rip),%rcx\n imul $3,words+24(%rip),%edx\n add %rdx,%rcx\n mov %rcx,56(%rbx)\n"
    " push words(%rip)\n pop scratch+24(%rip)\n mov scratch+24(%rip),%rcx\n mov %rcx,64(%rbx)\n"
    " pshufd $0x1b,floats(%rip),%xmm0\n movdqa %xmm0,scratch+32(%rip)\n addps floats(%rip),%xmm0\n movq %xmm0,72(%rbx)\n"
    " mulss floats+4(%rip),%xmm0\n cvttss2si floats+8(%rip),%ecx\n mov %rcx,80(%rbx)\n"
    " pinsrw $3,words+2(%rip),%xmm0\n movq %xmm0,88(%rbx)\n cmpps $1,floats(%rip),%xmm0\n movmskps %xmm0,%ecx\n mov %rcx,96(%rbx)\n"
    " movabs scratch+16,%al\n movabs words,%rax\n mov %rax,104(%rbx)\n movabs %rax,scratch+48\n movabs %eax,scratch+48\n"
    " mov scratch+48(%rip),%rcx\n mov %rcx,112(%rbx)\n"
    " lea words(%rip),%eax\n mov 8(%eax),%rcx\n mov %rcx,120(%rbx)\n"       // 67: image below 4 GiB
    " mov words(%eip),%rcx\n mov %rcx,128(%rbx)\n"                           // 67 with rip-relative
    " mov words,%rcx\n mov %rcx,136(%rbx)\n"                                 // SIB without base
    " mov $2,%ecx\n mov words(,%rcx,8),%rdx\n mov %rdx,144(%rbx)\n"
    " lea -4(%rax,%rcx,4),%rdx\n sub %rax,%rdx\n mov %rdx,152(%rbx)\n"
    " cmovz words(%rip),%rdx\n cmovnz words+8(%rip),%rdx\n mov %rdx,160(%rbx)\n"
    " mov %ds:words(%rip),%rdx\n mov %cs:words(%rip),%rdx\n mov %es:words(%rip),%rdx\n mov %rdx,168(%rbx)\n"
    " mov $0x77,%eax\n lock cmpxchg %rcx,scratch+24(%rip)\n mov %rax,176(%rbx)\n"
    " xchg %rax,scratch+24(%rip)\n lock xadd %rcx,scratch+24(%rip)\n mov scratch+24(%rip),%rcx\n mov %rcx,184(%rbx)\n"
    " mov %rsp,%rcx\n mov (%rsp),%rdx\n cmp %rdx,(%rcx)\n sete %dl\n movzbl %dl,%edx\n mov %rdx,192(%rbx)\n"
    " fldl words+16(%rip)\n fistpll scratch+40(%rip)\n mov scratch+40(%rip),%rcx\n mov %rcx,200(%rbx)\n"
    " testb $1,words(%rip)\n setz %cl\n testl $0x80000000,words+4(%rip)\n setnz %ch\n movzwl %cx,%ecx\n mov %rcx,208(%rbx)\n"
    " shld $4,%rcx,words+16(%rip)\n mov words+16(%rip),%rcx\n mov %rcx,216(%rbx)\n"
    " call *pointer_to(%rip)\n mov %rax,224(%rbx)\n"
    " btq $3,words(%rip)\n setc %cl\n mov $70,%edx\n bt %rdx,words(%rip)\n setc %ch\n movzwl %cx,%ecx\n mov %rcx,232(%rbx)\n"
    " pop %rbx\n ret\n"
    "returns_five: mov $5,%eax\n ret\n"
    ".data\npointer_to: .quad returns_five\n.text\n");

int program(int argc, char** argv, char** envp) {
    u64 results[30] = {0};
    addressing(results);
    for (int i = 0; i < 30; ++i) say("result", results[i]);
    return 0;
}
