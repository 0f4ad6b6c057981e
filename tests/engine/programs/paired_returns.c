// Calls and returns for which the engine may use the host's own: on read-only and misaligned stacks, on two stacks
// whose places have the same low bits, in code that changes while its return address waits, in a forked child.
#include "tiny.h"

enum { kPage = 4096, kStackBytes = 1 << 17, kNamesakes = 1 << 15 };

static char stacks[kStackBytes] __attribute__((aligned(1 << 16)));

/// Calls on the stack `top`, whose page becomes read-only before the calls return.
u64 return_on_read_only(char* top, char* page);
/// As return_on_read_only(), but the return address was pushed as a value.
u64 jump_on_read_only(char* top, char* page);
__asm__(
    ".text\n"
    "return_on_read_only:\n"
    " push %rbx\n push %rbp\n mov %rsp,%rbx\n mov %rdi,%rsp\n mov %rsi,%rbp\n mov $5,%ecx\n mov $6,%r11d\n"
    " lea 2f(%rip),%rax\n call *%rax\n mov $0,%eax\n adc $0x10,%rax\n mov %rbx,%rsp\n pop %rbp\n pop %rbx\n ret\n"
    "2: call 3f\n stc\n ret\n"
    "3: mov %rbp,%rdi\n mov $4096,%esi\n mov $1,%edx\n mov $10,%eax\n syscall\n ret\n"
    "jump_on_read_only:\n"
    " push %rbx\n mov %rsp,%rbx\n mov %rdi,%rsp\n lea 4f(%rip),%rax\n push %rax\n mov %rsi,%rdi\n mov $4096,%esi\n"
    " mov $1,%edx\n mov $10,%eax\n syscall\n mov $0x1234,%r10d\n mov $7,%ecx\n mov $8,%r11d\n stc\n ret\n ud2\n"
    "4: mov $0,%eax\n adc $0x20,%rax\n add %rcx,%rax\n add %r11,%rax\n mov %rbx,%rsp\n pop %rbx\n ret\n");

static void read_only(void) {
    char* const page = map(0, kPage, PROT_READ | PROT_WRITE, 0);
    for (int i = 0; i < 3; ++i) {
        say("read-only", return_on_read_only(page + kPage - 64, page));
        sys(__NR_mprotect, page, kPage, PROT_READ | PROT_WRITE);
        say("jump", jump_on_read_only(page + kPage - 64, page));
        sys(__NR_mprotect, page, kPage, PROT_READ | PROT_WRITE);
    }
}

/// Two stacks `top` and `top + kNamesakes`: each has a call whose return address lies at the same place, and the first
/// returns while the other call is the newer one. Flags, rcx and r11 are live.
u64 namesakes(char* top);
__asm__(
    "namesakes:\n"
    " push %rbx\n push %rbp\n push %r12\n mov %rsp,%rbx\n lea (%rdi),%rsp\n lea 0x8000(%rdi),%rbp\n xor %r12d,%r12d\n"
    " mov $0x100,%ecx\n mov $0x200,%r11d\n stc\n call 1f\n"
    " adc $0,%r12\n add %rcx,%r12\n add %r11,%r12\n mov %rbp,%rsp\n ret\n"  // into the other stack's frame
    "1: xchg %rsp,%rbp\n call 2f\n"
    " adc $0x1000,%r12\n mov %r12,%rax\n mov %rbx,%rsp\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
    "2: xchg %rsp,%rbp\n ret\n");

/// Three calls deep with rsp at any address.
u64 misaligned(char* top);
__asm__(
    "misaligned:\n"
    " push %rbx\n mov %rsp,%rbx\n mov %rdi,%rsp\n xor %eax,%eax\n call 1f\n add $1,%eax\n call 1f\n add $2,%eax\n"
    " mov %rbx,%rsp\n pop %rbx\n ret\n"
    "1: push %rcx\n call 2f\n add $0x10,%eax\n pop %rcx\n ret\n"
    "2: pushw %cx\n call 3f\n add $0x100,%eax\n popw %cx\n ret\n"
    "3: add $0x1000,%eax\n ret\n");

/// The callee changes the code that it returns to.
static volatile unsigned char* written;
static u64 (*volatile callee)(void);
static unsigned char next_value;

static u64 change_caller(void) {
    written[3] = next_value;
    return 0;
}

static u64 replace_caller(void) {
    unsigned char* const page = (unsigned char*)((u64)written & ~(u64)(kPage - 1));
    unsigned char copy[64];
    memcpy(copy, page, sizeof copy);
    sys(__NR_munmap, page, kPage);
    map(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_FIXED);
    memcpy(page, copy, sizeof copy);
    written[3] = next_value;
    return 0;
}

static void changing_code(void) {
    // sub $8,%rsp; call *%rdi; mov $VALUE,%eax; add $8,%rsp; ret
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0xb8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3};
    unsigned char* const page = map(0, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    memcpy(page, code, sizeof code);
    written = page + 4;
    for (int i = 0; i < 6; ++i) {
        callee = i < 3 ? change_caller : replace_caller;
        next_value = (unsigned char)(i + 1);
        say("changed", ((u64(*)(void*))(u64)page)((void*)callee));
    }
}

static long forked;
__attribute__((noinline)) static u64 fork_at(u64 depth) {
    volatile u64 keep = depth;
    if (depth != 0) return fork_at(depth - 1) + keep;
    forked = sys(__NR_fork);
    return 1;
}

static void in_child(void) {
    const u64 sum = fork_at(20);
    if (forked == 0) sys(__NR_exit_group, (long)(sum & 0x7f));
    say("child", (u64)wait_status(forked));
    say("parent", sum);
}

/// Frames that are left without returning, and calls from another place at the same depth afterwards.
static void* jump_to[5];
__attribute__((noinline)) static u64 leave_at(u64 depth) {
    volatile u64 keep = depth;
    if (depth == 0) __builtin_longjmp(jump_to, 1);
    return leave_at(depth - 1) + keep;
}

static u64 left_frames(void) {
    volatile u64 sum = 0;
    for (volatile u64 i = 0; i < 3; ++i) {
        if (__builtin_setjmp(jump_to) == 0) sum += leave_at(10 + i);
        sum += i + 1;
    }
    return sum;
}

/// More frames than there are numbers of places.
__attribute__((noinline)) static u64 deep(u64 depth) {
    volatile u64 keep[4] = {depth};
    return depth == 0 ? 0 : deep(depth - 1) + keep[0];
}

int program(int argc, char** argv, char** envp) {
    read_only();
    for (int i = 0; i < 3; ++i) say("namesakes", namesakes(stacks + kNamesakes));
    for (int i = 0; i < 16; ++i) say("misaligned", misaligned(stacks + kNamesakes + i));
    changing_code();
    in_child();
    say("left", left_frames());
    say("deep", deep(3000));
    return 0;
}
