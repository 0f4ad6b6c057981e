// A process traces another one as a debugger does: it looks at the registers at the stops of signals, passes signals on,
// drops and replaces them, steps, and writes breakpoints.
#include <linux/elf.h>
#include <linux/ptrace.h>

#include "tiny_thread.h"

enum { kTrapped = 5, kKilled = 9, kUser = 10, kUser2 = 12, kChild = 17, kStopped = 19, kTerminalStop = 20, kWall = 0x40000000 };

/// struct user_regs_struct (sys/user.h).
struct registers {
    u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, call, rip, cs, flags, rsp, ss;
    u64 fs_base, gs_base, ds, es, fs, gs;
};

/// Code of a known address. `stepped` is stepped through; `broken` gets a breakpoint at `place`.
__asm__(
    ".text\n"
    "stepped: mov $5, %ecx\n"
    "  pushf\n  pop %rax\n  push %rax\n  popf\n"
    "1: dec %ecx\n  jnz 1b\n"
    "  call 2f\n"
    "  mov $39, %eax\n  syscall\n"  // getpid
    "  mov $6, %ecx\n  lea numbers(%rip), %rdi\n  xor %eax, %eax\n  cld\n  rep stosb\n"
    "stepped_end: ret\n"
    "2: ret\n"
    "broken: mov $1, %eax\n"
    "place: add $2, %eax\n  ret\n");
extern char stepped[], stepped_end[], place[];
extern int broken(void);
char numbers[64];

static volatile int hits;
static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)context;
    hits = hits + 1 + (info->si_code == SI_QUEUE ? 100 : 0);
}

static long trace(long request, long task, long address, void* data) {
    return sys(__NR_ptrace, request, task, address, data);
}

static int next_stop(long child) {
    int status = 0;
    must(sys(__NR_wait4, child, &status, kWall, 0) == child, "wait4 reports the child");
    return status;
}

static struct registers look_at(long child) {
    struct registers r;
    must(trace(PTRACE_GETREGS, child, 0, &r) == 0, "GETREGS");
    return r;
}

/// Continues the child and reports its next stop.
static int go(const char* what, long child, long request, long signal) {
    must(trace(request, child, 0, (void*)signal) == 0, "continued");
    const int status = next_stop(child);
    say(what, (u64)status);
    return status;
}

static long begin_child(int (*body)(void)) {
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        trace(PTRACE_TRACEME, 0, 0, 0);
        on_signal(kUser, handler, 0, 0);
        sys(__NR_kill, sys(__NR_getpid), kStopped);
        sys(__NR_exit_group, body());
    }
    say("first stop", (u64)next_stop(child));
    return child;
}

static int raises(void) {
    for (int i = 0; i < 3; ++i) raise_here(kUser);
    raise_here(kUser2);  // no handler: the tracer drops it
    raise_here(kChild);  // ignored by default
    raise_here(kUser2);  // replaced by SIGUSR1
    return hits;
}

static void passes_and_drops(void) {
    const long child = begin_child(raises);
    siginfo_t info;
    go("to be passed", child, PTRACE_CONT, 0);
    go("to be dropped", child, PTRACE_CONT, kUser);
    go("to be changed", child, PTRACE_CONT, 0);
    say("siginfo", (u64)trace(PTRACE_GETSIGINFO, child, 0, &info));
    say("number", (u64)info.si_signo);
    say("code", (u64)info.si_code);
    info.si_code = SI_QUEUE;
    say("changed", (u64)trace(PTRACE_SETSIGINFO, child, 0, &info));
    go("without a handler", child, PTRACE_CONT, kUser);
    go("ignored", child, PTRACE_CONT, 0);
    go("to be replaced", child, PTRACE_CONT, kChild);
    go("end", child, PTRACE_CONT, kUser);
}

static int dies(void) {
    raise_here(kUser2);
    return 1;
}

static void passes_the_end(void) {
    const long child = begin_child(dies);
    go("SIGUSR2", child, PTRACE_CONT, 0);
    go("end", child, PTRACE_CONT, kUser2);
}

static int stops(void) {
    raise_here(kTerminalStop);
    return 3;
}

/// A stop of the whole process, after which GETSIGINFO is EINVAL.
static void passes_a_stop(void) {
    const long child = begin_child(stops);
    siginfo_t info;
    go("SIGTSTP", child, PTRACE_CONT, 0);
    go("stopped", child, PTRACE_CONT, kTerminalStop);
    say("siginfo", (u64)-trace(PTRACE_GETSIGINFO, child, 0, &info));
    go("end", child, PTRACE_CONT, 0);
}

static int runs_stepped(void) {
    raise_here(kUser2);
    ((void (*)(void))stepped)();
    raise_here(kUser);
    return hits;
}

/// Steps through `stepped` and reports where each step ends, from its beginning.
static void steps(void) {
    const long child = begin_child(runs_stepped);
    go("SIGUSR2", child, PTRACE_CONT, 0);
    struct registers r = look_at(child);
    while (r.rip != (u64)stepped) {
        must(trace(PTRACE_SINGLESTEP, child, 0, 0) == 0, "step");
        must(next_stop(child) == (kTrapped << 8 | 0x7f), "a step ends with SIGTRAP");
        r = look_at(child);
    }
    const u64 way_back = r.rsp;
    siginfo_t info;
    for (int i = 0; i < 60 && r.rip != (u64)stepped_end; ++i) {
        must(trace(PTRACE_SINGLESTEP, child, 0, 0) == 0, "step");
        must(next_stop(child) == (kTrapped << 8 | 0x7f), "a step ends with SIGTRAP");
        r = look_at(child);
        say("at", r.rip - (u64)stepped);
        say("rcx", r.rip - (u64)stepped < 30 ? r.rcx : 0);
        say("stack", r.rsp - way_back);
        if (r.rip == (u64)stepped + 7) say("pushed flags", r.rax & 0x100);
    }
    must(trace(PTRACE_GETSIGINFO, child, 0, &info) == 0, "GETSIGINFO");
    say("signal of a step", (u64)info.si_signo);
    say("its code", (u64)info.si_code);
    go("after the steps", child, PTRACE_CONT, 0);
    go("into the handler", child, PTRACE_SINGLESTEP, kUser);
    r = look_at(child);
    say("the handler", r.rip == (u64)handler);
    say("its argument", r.rdi);
    go("end", child, PTRACE_CONT, 0);
}

static int runs_broken(void) {
    int sum = broken();
    raise_here(kUser2);
    for (int i = 0; i < 3; ++i) sum += broken();
    return sum;
}

static void poke(long child, void* at, u64 word) {
    must(trace(PTRACE_POKETEXT, child, (long)at, (void*)word) == 0, "POKETEXT");
}

/// A breakpoint in code that has run before, as debuggers set one.
static void breaks(void) {
    const long child = begin_child(runs_broken);
    go("SIGUSR2", child, PTRACE_CONT, 0);
    u64 code = 0;
    trace(PTRACE_PEEKTEXT, child, (long)place, &code);
    poke(child, place, (code & ~0xffull) | 0xcc);
    for (int i = 0; i < 2; ++i) {
        go("breakpoint", child, PTRACE_CONT, 0);
        struct registers r = look_at(child);
        say("place", r.rip - (u64)place);
        say("eax", r.rax);
        r.rip = (u64)place;
        r.rax = 10;
        must(trace(PTRACE_SETREGS, child, 0, &r) == 0, "SETREGS");
        poke(child, place, code);
        go("over it", child, PTRACE_SINGLESTEP, 0);
        say("eax", look_at(child).rax);
        if (i == 0) poke(child, place, (code & ~0xffull) | 0xcc);
    }
    go("end", child, PTRACE_CONT, 0);
}

static int ends[2];

static int waits(void) {
    char byte = 0;
    return sys(__NR_read, ends[0], &byte, 1) == 1 ? 8 : 9;
}

int vectors(void);

__attribute__((noinline)) static int spins(void) {
    volatile u64 n = 0;
    for (;;) n = n + 1;
    return 0;
}

/// Placed after spins(), which ends where it begins.
__attribute__((noinline)) int vectors(void) {
    __asm__ volatile("movq %0, %%xmm3\n\tud2\n\tmovq %%xmm3, %0" : : "r"(0x123456789abcdefull) : "xmm3");
    return 0;
}

/// Signals that find the child in a system call, and at any instruction.
static void interrupts(void) {
    sys(__NR_pipe2, ends, 0);
    long child = begin_child(waits);
    must(trace(PTRACE_CONT, child, 0, 0) == 0, "continued");
    nap_ms(30);
    sys(__NR_kill, child, kChild);
    say("while it waits", (u64)next_stop(child));
    sys(__NR_write, ends[1], "x", 1);
    go("end", child, PTRACE_CONT, 0);
    child = begin_child(spins);
    struct registers r, before;
    for (int in_loop = 0; in_loop < 20;) {
        must(trace(PTRACE_CONT, child, 0, 0) == 0, "continued");
        nap_ms(2);
        sys(__NR_kill, child, kStopped);
        must(next_stop(child) == (kStopped << 8 | 0x7f), "SIGSTOP");
        r = look_at(child);
        if (r.rip < (u64)spins || r.rip >= (u64)vectors) continue;  // it has not come there yet
        ++in_loop;
        before = r;
        must(trace(PTRACE_SINGLESTEP, child, 0, 0) == 0, "step");
        must(next_stop(child) == (kTrapped << 8 | 0x7f), "step");
        r = look_at(child);
        must(r.rip != before.rip && r.rsp == before.rsp, "one instruction of the loop");
    }
    sys(__NR_kill, child, kKilled);
    say("end", (u64)next_stop(child));
}

/// Counts in two registers, which are equal at `counted` only, until a tracer ends the loop.
__attribute__((noinline)) int counts(void);
__asm__(
    ".text\n"
    "counts: mov $4711, %r13d\n  xor %eax, %eax\n  xor %ecx, %ecx\n"
    "counted: inc %rax\n  inc %rcx\n  cmp %rax, %rcx\n  je counted\n"
    "counts_end: ret\n");
extern char counted[], counts_end[];

/// PTRACE_INTERRUPT, which stops the child without a signal, at any instruction.
static void seizes(void) {
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) sys(__NR_exit_group, counts());
    nap_ms(20);
    must(trace(PTRACE_SEIZE, child, 0, 0) == 0, "seize");
    struct registers r;
    siginfo_t info;
    u64 event = 99;
    for (int in_loop = 0; in_loop < 20;) {
        must(trace(PTRACE_INTERRUPT, child, 0, 0) == 0, "interrupt");
        must(next_stop(child) == (PTRACE_EVENT_STOP << 16 | kTrapped << 8 | 0x7f), "PTRACE_EVENT_STOP");
        r = look_at(child);
        in_loop += r.rip >= (u64)counted && r.rip < (u64)counts_end;
        must(in_loop == 0 || r.r13 == 4711, "its own registers");
        must(in_loop == 0 || r.rax == r.rcx || (r.rip > (u64)counted && r.rax == r.rcx + 1), "of one moment");
        must(trace(PTRACE_GETSIGINFO, child, 0, &info) == 0, "siginfo");
        must(info.si_signo == kTrapped && info.si_code == (PTRACE_EVENT_STOP << 8 | kTrapped), "of the event");
        must(trace(PTRACE_GETEVENTMSG, child, 0, &event) == 0 && event == 0, "no message");
        must(trace(PTRACE_CONT, child, 0, 0) == 0, "continued");
        nap_ms(2);
    }
    trace(PTRACE_INTERRUPT, child, 0, 0);
    siginfo_t stop = {0};
    must(sys(__NR_waitid, P_PID, child, &stop, 2 | 4 | kWall, 0) == 0, "waitid");
    say("waitid", (u64)(unsigned)stop.si_status);
    r = look_at(child);
    say("step", (u64)trace(PTRACE_SINGLESTEP, child, 0, 0));
    say("stepped", (u64)next_stop(child));
    r = look_at(child);
    r.rcx = ~0ul, r.rax = 42, r.rip = (u64)counts_end;
    say("set", (u64)trace(PTRACE_SETREGS, child, 0, &r));
    trace(PTRACE_CONT, child, 0, 0);
    say("end", (u64)next_stop(child));
}

static void floating_point(void) {
    const long child = begin_child(vectors);
    go("SIGILL", child, PTRACE_CONT, 0);
    unsigned char area[512];
    struct { void* base; u64 bytes; } place_of_area = {area, sizeof area};
    say("regset", (u64)trace(PTRACE_GETREGSET, child, NT_PRFPREG, &place_of_area));
    say("xmm3", *(u64*)(area + 160 + 3 * 16));
    say("debug register", (u64)trace(PTRACE_PEEKUSR, child, 848 + 7 * 8, area));
    say("it", *(u64*)area);
    go("end", child, PTRACE_CONT, kTrapped);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    passes_and_drops();
    passes_the_end();
    passes_a_stop();
    steps();
    breaks();
    interrupts();
    seizes();
    floating_point();
    return 0;
}
