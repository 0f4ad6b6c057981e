// Debug registers that a tracer sets, as for gdb's hardware watchpoints: writes, accesses, instructions, several at
// once, with single steps, by REP, over a fork; values that are refused.
#include <linux/ptrace.h>

#include "tiny_thread.h"

enum { kUser = 10, kStopped = 19, kWall = 0x40000000, kControl = 7, kStatus = 6 };

struct registers {
    u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, call, rip, cs, flags, rsp, ss;
    u64 fs_base, gs_base, ds, es, fs, gs;
};

__asm__(
    ".text\n"
    "watched_code: mov $7, %ecx\n"
    "  mov %rcx, words(%rip)\n"          // words[0]
    "  mov words+8(%rip), %rax\n"        // reads words[1]
    "  addl $1, words+12(%rip)\n"        // the upper half of words[1]
    "  movb $1, words+23(%rip)\n"        // the last byte of words[2]
    "executed: nop\n  inc %eax\n"
    "  mov $4, %ecx\n  lea words+24(%rip), %rdi\n  cld\n  rep stosq\n"  // words[3] to words[6]
    "  mov %eax, words+56(%rip)\n"       // words[7]
    "  ret\n");
extern char watched_code[], executed[];
extern int run_watched(void) __asm__("watched_code");
u64 words[9];

static long trace(long request, long task, long address, u64 data) {
    return sys(__NR_ptrace, request, task, address, data);
}

static int next_stop(long child) {
    int status = 0;
    must(sys(__NR_wait4, child, &status, kWall, 0) == child, "wait4 reports the child");
    return status;
}

static long set(long child, int number, u64 value) {
    return trace(PTRACE_POKEUSR, child, 848 + number * 8, value);
}

static u64 get(long child, int number) {
    u64 value = 0x1234;
    const long error = trace(PTRACE_PEEKUSR, child, 848 + number * 8, (u64)&value);
    return error != 0 ? (u64)error : value;
}

enum { kExecutes = 0, kWrites = 1, kAccesses = 3 };

/// Watches `bytes` at `address` by a slot.
static long watch(long child, int slot, const void* address, int kind, int bytes) {
    const u64 length = bytes == 8 ? 2 : (u64)bytes - 1;
    const u64 control = get(child, kControl) & ~(15ul << (16 + 4 * slot)) & ~(3ul << (2 * slot));
    if (set(child, kControl, control) != 0 || set(child, slot, (u64)address) != 0) return -1;
    return set(child, kControl, control | ((u64)kind | length << 2) << (16 + 4 * slot) | 1ul << (2 * slot));
}

/// What the child has stopped for.
static int go(const char* what, long child, long request) {
    must(trace(request, child, 0, 0) == 0, "continued");
    const int status = next_stop(child);
    say(what, (u64)status);
    if ((status & 0xff) != 0x7f) return 0;
    struct registers r;
    siginfo_t info;
    trace(PTRACE_GETREGS, child, 0, (u64)&r);
    trace(PTRACE_GETSIGINFO, child, 0, (u64)&info);
    say("at", r.rip - (u64)watched_code);
    say("code", (u64)info.si_code);
    say("address", (u64)info.si_addr - (u64)watched_code);
    say("status", get(child, kStatus));
    return 1;
}

static long begin_child(int (*body)(void)) {
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        trace(PTRACE_TRACEME, 0, 0, 0);
        sys(__NR_kill, sys(__NR_getpid), kStopped);
        sys(__NR_exit_group, body());
    }
    say("first stop", (u64)next_stop(child));
    return child;
}

static void go_to_the_end(const char* what, long child) {
    say(what, 0);
    while (go("stop", child, PTRACE_CONT)) {
    }
}

static void refused_values(void) {
    const long child = begin_child(run_watched);
    for (int i = 0; i < 8; ++i) say("at first", get(child, i));
    say("register 4", (u64)set(child, 4, 0));
    say("register 5", (u64)set(child, 5, 1));
    say("ports", (u64)watch(child, 0, words, 2, 4));
    say("not aligned", (u64)watch(child, 0, (char*)words + 2, kWrites, 4));
    say("a long instruction", (u64)watch(child, 0, executed, kExecutes, 4));
    set(child, kControl, 0);
    say("an address", (u64)set(child, 2, 0x123));
    say("as set", get(child, 2));
    say("control", (u64)set(child, kControl, 0x300));
    say("as set", get(child, kControl));
    say("not set", (u64)watch(child, 1, words, kWrites, 8));
    say("status", (u64)set(child, kStatus, 0xffff0ff1));
    say("as set", get(child, kStatus));
    set(child, kControl, 0);
    go_to_the_end("nothing is watched", child);
}

static void stops_at_each(void) {
    long child = begin_child(run_watched);
    say("set", (u64)watch(child, 0, words, kWrites, 8));
    say("control", get(child, kControl));
    go_to_the_end("a write", child);
    child = begin_child(run_watched);
    watch(child, 1, words + 1, kAccesses, 8);
    go_to_the_end("accesses", child);
    child = begin_child(run_watched);
    watch(child, 1, words + 1, kWrites, 4);
    go_to_the_end("the half that is not written", child);
    child = begin_child(run_watched);
    watch(child, 3, (char*)words + 23, kWrites, 1);
    watch(child, 2, executed, kExecutes, 1);
    watch(child, 0, words + 7, kWrites, 4);
    watch(child, 1, words + 7, kAccesses, 2);
    go_to_the_end("four", child);
}

static void steps(void) {
    const long child = begin_child(run_watched);
    watch(child, 0, words, kWrites, 8);
    watch(child, 1, executed, kExecutes, 1);
    say("steps", 0);
    go("stop", child, PTRACE_CONT);
    for (int i = 0; i < 6; ++i) go("step", child, PTRACE_SINGLESTEP);
    set(child, kControl, 0);
    go_to_the_end("the rest", child);
}

static int forks(void) {
    const long child = sys(__NR_fork);
    if (child == 0) sys(__NR_exit_group, run_watched() != 0);
    return wait_status(child);
}

static void is_not_inherited(void) {
    const long child = begin_child(forks);
    watch(child, 0, words, kWrites, 8);
    say("a fork", 0);
    say("end", (u64)next_stop((trace(PTRACE_CONT, child, 0, 0), child)));
    say("end", (u64)next_stop((trace(PTRACE_CONT, child, 0, 0), child)));
}

/// Without an argument: what a CPU without debug registers answers, too, such as that of some virtual machines. With one
/// (debug_registers_test.py): the hits.
int program(int argc, char** argv, char** envp) {
    (void)argv, (void)envp;
    if (argc == 1) {
        refused_values();
        return 0;
    }
    stops_at_each();
    steps();
    is_not_inherited();
    return 0;
}
