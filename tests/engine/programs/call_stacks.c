// Everything that makes the calls that have not returned differ from the calls and returns in order: jumps out of
// frames, tail calls, other stacks, handlers, children. The call stacks of samples are compared with those of single
// steps.
#include "tiny.h"

static volatile u64 work;

__attribute__((noinline)) static u64 leaf(u64 n) {
    for (u64 i = 0; i < n; ++i) work = work * 5 + i;
    return work;
}

__attribute__((noinline)) static u64 middle(u64 n) {
    return leaf(n) + leaf(n / 2) + 1;
}

__attribute__((noinline)) static u64 recursion(u64 depth) {
    if (depth == 0) return middle(20);
    return recursion(depth - 1) + middle(2);
}

// Tail calls: `hops` leaves its frame to `middle`.
u64 hops(u64 n);
__asm__(".text\nhops: add $3,%rdi\n jmp middle_for_hops\n");
__attribute__((used)) u64 middle_for_hops(u64 n) {
    return middle(n) + 1;
}

// setjmp and longjmp.
struct place {
    u64 rbx, rbp, r12, r13, r14, r15, rsp, rip;
};
__attribute__((returns_twice)) int save_place(struct place* place);
__attribute__((noreturn)) void restore_place(const struct place* place, int value);
__asm__(
    ".text\n"
    "save_place: mov %rbx,(%rdi)\n mov %rbp,8(%rdi)\n mov %r12,16(%rdi)\n mov %r13,24(%rdi)\n mov %r14,32(%rdi)\n mov %r15,40(%rdi)\n"
    " lea 8(%rsp),%rax\n mov %rax,48(%rdi)\n mov (%rsp),%rax\n mov %rax,56(%rdi)\n xor %eax,%eax\n ret\n"
    "restore_place: mov %esi,%eax\n mov (%rdi),%rbx\n mov 8(%rdi),%rbp\n mov 16(%rdi),%r12\n mov 24(%rdi),%r13\n mov 32(%rdi),%r14\n"
    " mov 40(%rdi),%r15\n mov 48(%rdi),%rsp\n jmp *56(%rdi)\n");

static struct place place;

__attribute__((noinline)) static u64 jumps_out(u64 depth) {
    if (depth == 0) restore_place(&place, 1);
    return jumps_out(depth - 1) + leaf(3);
}

__attribute__((noinline)) static u64 jumps(u64 times) {
    volatile u64 left = times;
    if (save_place(&place)) leaf(5);
    if (left == 0) return middle(9);
    left = left - 1;
    middle(4);
    return jumps_out(12);
}

// Coroutines that go on by a return, or by a jump: pushes the registers, saves rsp at *from, continues at `to`.
void switch_by_return(u64* from, u64 to);
void switch_by_jump(u64* from, u64 to);
__asm__(
    ".text\n"
    "switch_by_return: push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
    "switch_by_jump: push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n pop %rcx\n jmp *%rcx\n");

static u64 main_rsp, coroutine_rsp[3];
static void (*switch_stacks)(u64*, u64);
static int running;
static char near_stacks[3][16384] __attribute__((aligned(16)));

__attribute__((noinline)) static void yields(u64 n) {
    leaf(n);
    switch_stacks(&coroutine_rsp[running], main_rsp);
    leaf(n);
}

__attribute__((noinline)) static void coroutine_body(u64 depth) {
    if (depth != 0) {
        coroutine_body(depth - 1);
        leaf(2);
        return;
    }
    yields(7);
    yields(9);
}

static void coroutine(void) {
    for (;;) {
        coroutine_body(3 + (u64)running);
        yields(4);
    }
}

static void start_coroutine(int which, char* stack, size_t size) {
    u64* top = (u64*)(stack + size - 64);
    *--top = 0;  // the return address of `coroutine`
    *--top = (u64)coroutine;
    for (int i = 0; i < 6; ++i) *--top = 0;
    coroutine_rsp[which] = (u64)top;
}

__attribute__((noinline)) static void resume(int which) {
    running = which;
    switch_stacks(&main_rsp, coroutine_rsp[which]);
    leaf(3);
}

__attribute__((noinline)) static void scheduler(u64 turns) {
    for (u64 i = 0; i < turns; ++i) resume((int)(i % 3));
    middle(3);
}

static void coroutines(void) {
    switch_stacks = switch_by_return;
    for (int i = 0; i < 3; ++i) start_coroutine(i, near_stacks[i], sizeof near_stacks[i]);
    scheduler(40);
    switch_stacks = switch_by_jump;
    const size_t far = 32u << 20;
    char* memory = (char*)sys(__NR_mmap, 0, 3 * far, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int i = 0; i < 3; ++i) start_coroutine(i, memory + (size_t)i * far, 65536);
    scheduler(40);
}

// Handlers on the same stack and on another one, that return or jump.
static char alternate[32768];

static void returning(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    middle(6);
    if (signal == SIGUSR1) raise_here(SIGUSR2);
    leaf(2);
}

static void jumping(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    change_mask(SIG_UNBLOCK, MASK_OF(signal));
    middle(5);
    restore_place(&place, signal);
}

__attribute__((noinline)) static void raises(int signal) {
    leaf(3);
    raise_here(signal);
    leaf(4);
}

__attribute__((noinline)) static void handlers(void) {
    stack_t mine = {alternate, 0, sizeof alternate};
    sys(__NR_sigaltstack, &mine, 0);
    on_signal(SIGUSR1, returning, 0, 0);
    on_signal(SIGUSR2, returning, SA_ONSTACK, 0);
    on_signal(SIGHUP, jumping, SA_ONSTACK, 0);
    for (int i = 0; i < 5; ++i) raises(i % 2 ? SIGUSR1 : SIGUSR2);
    volatile u64 times = 0;
    save_place(&place);
    times = times + 1;
    if (times < 10) raises(SIGHUP);
    middle(5);
}

// A pushed address as a jump.
u64 pushes(u64 n);
__asm__(
    ".text\n"
    "pushes: push %rbx\n mov %rdi,%rbx\n lea 1f(%rip),%rax\n push %rax\n ret\n ud2\n"
    "1: mov %rbx,%rdi\n call middle_for_hops\n pop %rbx\n ret\n");

__attribute__((noinline)) static void children(void) {
    int status;
    long child = sys(__NR_fork);
    if (child == 0) {
        recursion(3);
        sys(__NR_exit_group, 0);
    }
    sys(__NR_wait4, child, &status, 0, 0);
    // The child of a vfork runs on the parent's stack.
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(__NR_vfork) : "rcx", "r11", "memory");
    if (answer == 0) {
        leaf(30);
        sys(__NR_exit_group, 0);
    }
    sys(__NR_wait4, answer, &status, 0, 0);
    middle(8);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    recursion(200);
    hops(20);
    jumps(8);
    pushes(11);
    coroutines();
    handlers();
    children();
    say("work", work);
    return 0;
}
