// A process stops another one before and after its system calls (PTRACE_SYSCALL), looks at them and changes them. A
// signal that interrupts a call stops the tracee before or after that call's end, so signals are only counted. A call
// that a signal interrupts ends with ERESTARTSYS and is made again, with two more stops: wait4 does so if SIGCHLD
// arrives after it has looked for ended children and before it sleeps (do_wait() in kernel/exit.c), and in a run also
// if SIGCHLD arrives between the stop before the call and the kernel's part of it. Those two stops are left out.
#include <linux/ptrace.h>

#include "tiny_thread.h"

enum {
    kRestart = -512,
    kStopped = 19,
    kUser = 10,
    kMark = 0x80,
    kWall = 0x40000000,
    kTasks = 4,
    kStops = 64,
    kUnknownCall = 600
};

/// struct user_regs_struct (sys/user.h).
struct registers {
    u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, call, rip, cs, flags, rsp, ss;
    u64 fs_base, gs_base, ds, es, fs, gs;
};

/// struct ptrace_syscall_info (linux/ptrace.h).
struct call_info {
    unsigned char where, padding[3];
    unsigned architecture;
    u64 rip, rsp, value[7];
};

static long trace(long request, long task, long address, void* data) {
    return sys(__NR_ptrace, request, task, address, data);
}

static int next_stop(long child) {
    int status = 0;
    must(sys(__NR_wait4, child, &status, kWall, 0) == child, "wait4 reports the child");
    return status;
}

/// A child that stops before it calls `body`; the tracer has set its options then.
static long begin_child(int (*body)(void), long options) {
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        trace(PTRACE_TRACEME, 0, 0, 0);
        sys(__NR_kill, sys(__NR_getpid), kStopped);
        sys(__NR_exit_group, body());
    }
    say("first stop", (u64)next_stop(child));
    say("options", (u64)trace(PTRACE_SETOPTIONS, child, 0, (void*)options));
    return child;
}

static int calls(void) {
    sys6(kUnknownCall, 1, 2, 3, 4, 5, 6);
    sys(__NR_close, -1);
    sys(__NR_getuid);
    return (int)sys(__NR_close, 1000) & 63;
}

/// Whether the number belongs to a call whose arguments are the same in every run.
static int is_steady(u64 call) {
    return call == kUnknownCall || call == __NR_close || call == __NR_exit_group;
}

static void show(long child, int status, int marked) {
    struct registers r;
    struct call_info info;
    siginfo_t signal;
    u64 word = 0;
    say("stop", (u64)status);
    say("siginfo", (u64)trace(PTRACE_GETSIGINFO, child, 0, &signal));
    say("code", (u64)signal.si_code);
    must(trace(PTRACE_GETREGS, child, 0, &r) == 0, "registers");
    say("call", r.call);
    say("result", r.rax);
    must(r.rcx == r.rip && (r.r11 & 0xd5) == (r.flags & 0xd5) && r.cs == 0x33 && r.ss == 0x2b,
         "as SYSCALL leaves them");
    must(trace(PTRACE_PEEKUSR, child, 15 * 8, &word) == 0 && word == r.call, "the call by PTRACE_PEEKUSER");
    struct {
        void* base;
        u64 bytes;
    } set = {&r, sizeof r + 8};
    must(trace(0x4204, child, 1, &set) == 0 && set.bytes == sizeof r && r.call == word, "PTRACE_GETREGSET");
    const long bytes = trace(0x420e, child, sizeof info, &info);
    say("bytes", (u64)bytes);
    say("where", info.where);
    say("architecture", info.architecture);
    must(info.rip == r.rip && info.rsp == r.rsp, "the place of the call");
    must(trace(PTRACE_GETEVENTMSG, child, 0, &word) == 0, "the message of the event");
    say("message", word);
    if (info.where == 1 && is_steady(r.call))
        for (int i = 0; i < 7; ++i) say("value", info.value[i]);
    if (info.where == 2) say("result", info.value[0]), say("is error", info.value[1] & 0xff);
    must(marked == ((status >> 8 & kMark) != 0), "the mark");
}

/// Shows all stops at calls until the child ends.
static void show_calls(long options) {
    const long child = begin_child(calls, options);
    for (;;) {
        trace(PTRACE_SYSCALL, child, 0, 0);
        const int status = next_stop(child);
        if ((status & 0xff) != 0x7f) return say("end", (u64)status);
        show(child, status, options != 0);
    }
}

static int changed_calls(void) {
    int wrong = 0;
    wrong += sys6(kUnknownCall, 1, 2, 3, 4, 5, 6) != -EBADF;  // becomes close(-1)
    wrong += (sys(__NR_close, -1) != 4711) << 1;              // gets another result
    wrong += (sys(__NR_close, -1) != 4712) << 2;              // is cancelled
    wrong += (sys(__NR_close, -1) != -ENOSYS) << 3;           // likewise, with the result of no call
    wrong += (sys(__NR_close, -1) != -EBADF) << 4;            // runs without a stop after it
    return wrong;
}

/// Continues the child to its next stop, and reads the registers there.
static void to_stop(long child, struct registers* r) {
    trace(PTRACE_SYSCALL, child, 0, 0);
    say("stop", (u64)next_stop(child));
    must(trace(PTRACE_GETREGS, child, 0, r) == 0, "registers");
}

static void change_calls(void) {
    const long child = begin_child(changed_calls, PTRACE_O_TRACESYSGOOD);
    struct registers r;
    to_stop(child, &r);
    r.call = __NR_close, r.rdi = ~0ul;
    say("set", (u64)trace(PTRACE_SETREGS, child, 0, &r));
    to_stop(child, &r);
    to_stop(child, &r);
    to_stop(child, &r);
    say("poke", (u64)trace(PTRACE_POKEUSR, child, 10 * 8, (void*)4711));
    to_stop(child, &r);
    r.call = ~0ul, r.rax = 4712;
    say("set", (u64)trace(PTRACE_SETREGS, child, 0, &r));
    to_stop(child, &r);
    to_stop(child, &r);
    say("poke", (u64)trace(PTRACE_POKEUSR, child, 15 * 8, (void*)-1));
    to_stop(child, &r);
    to_stop(child, &r);
    say("last", (u64)trace(PTRACE_CONT, child, 0, 0));
    say("end", (u64)next_stop(child));
}

/// What a task did: 'b' before a call, 'a' after one, 'f' after a fork, 'x' an execve, '0' and on: an end.
struct task {
    long id;
    int length, signals, restarts;
    char stops[kStops];
};

static struct task tasks[kTasks];

static struct task* task_of(long id) {
    struct task* at = tasks;
    while (at->id != id && at->id != 0) ++at;
    must(at < tasks + kTasks, "few tasks");
    at->id = id;
    return at;
}

static char kind_of(long id, int status) {
    u64 where = 0;
    if ((status & 0xff) != 0x7f) return (char)('0' + (status >> 8 & 7));
    if (status >> 16 == PTRACE_EVENT_FORK) return 'f';
    if (status >> 16 == PTRACE_EVENT_EXEC) return 'x';
    trace(PTRACE_GETEVENTMSG, id, 0, &where);
    return where == 1 ? 'b' : 'a';
}

/// Whether the stop is one of the two between an interrupted call and the same call made again.
static int is_of_restart(struct task* task, char kind) {
    const int again = task->restarts && kind == 'b';
    u64 result = 0;
    task->restarts = 0;
    if (kind == 'a') trace(PTRACE_PEEKUSR, task->id, 10 * 8, &result);
    if ((long)result == kRestart) task->restarts = 1;
    return again || task->restarts;
}

/// Follows `count` tasks to their ends.
static void follow(int count) {
    while (count > 0) {
        int status = 0;
        const long id = sys(__NR_wait4, -1, &status, kWall, 0);
        must(id > 0, "wait4");
        struct task* task = task_of(id);
        const int signal = (status & 0xff) == 0x7f && status >> 16 == 0 && !(status >> 8 & kMark) ? status >> 8 : 0;
        const char kind = signal != 0 ? 0 : kind_of(id, status);
        if (signal != 0)
            ++task->signals;
        else if (!is_of_restart(task, kind) && task->length < kStops - 1)
            task->stops[task->length++] = kind;
        if ((status & 0xff) != 0x7f) --count;
        trace(PTRACE_SYSCALL, id, 0, (void*)(long)(signal == kUser ? signal : 0));
    }
    for (int i = 0; i < kTasks && tasks[i].id != 0; ++i) {
        put(tasks[i].stops);
        say("", (u64)tasks[i].signals);
    }
    memset(tasks, 0, sizeof tasks);
}

static int forks(void) {
    const long child = sys(__NR_fork);
    if (child == 0) {
        sys(__NR_getuid);
        return 5;
    }
    int status = 0;
    sys(__NR_wait4, child, &status, 0, 0);
    return status >> 8;
}

static void ignore(int number, siginfo_t* info, void* context) {
    (void)number, (void)info, (void)context;
}

static int signals(void) {
    on_signal(kUser, ignore, 0, 0);
    sys(__NR_kill, sys(__NR_getpid), kUser);
    return 3;
}

static char** arguments;
static char** environment;

static int executes(void) {
    char* again[] = {arguments[0], (char*)"again", 0};
    sys(__NR_execve, "/nowhere", again, environment);
    sys(__NR_execve, arguments[0], again, environment);
    return 1;
}

static void follow_one(int (*body)(void), int tasks_of_it) {
    const long child = begin_child(body, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXEC);
    trace(PTRACE_SYSCALL, child, 0, 0);
    follow(tasks_of_it);
}

/// The first stop is that of SIGTRAP after an execve; the next one is before a call, as nothing was asked at the
/// execve.
static void after_traced_execve(void) {
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        trace(PTRACE_TRACEME, 0, 0, 0);
        executes();
    }
    say("at execve", (u64)next_stop(child));
    trace(PTRACE_SETOPTIONS, child, 0, (void*)PTRACE_O_TRACESYSGOOD);
    trace(PTRACE_SYSCALL, child, 0, 0);
    follow(1);
}

/// A tracer that ends leaves the tracee running.
static void without_tracer(void) {
    flush();
    volatile int* const shared = (volatile int*)sys(__NR_mmap, 0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const long tracee = sys(__NR_fork);
    if (tracee == 0) {
        while (shared[0] == 0) sys(__NR_getuid);
        sys(__NR_exit_group, 6);
    }
    const long tracer = sys(__NR_fork);
    if (tracer == 0) {
        int status = 0;
        must(trace(PTRACE_SEIZE, tracee, 0, (void*)PTRACE_O_TRACESYSGOOD) == 0, "seize");
        trace(PTRACE_INTERRUPT, tracee, 0, 0);
        for (int i = 0; i < 9; ++i) {
            sys(__NR_wait4, tracee, &status, kWall, 0);
            trace(PTRACE_SYSCALL, tracee, 0, 0);
        }
        sys(__NR_exit_group, status >> 8 & 0xff);
    }
    say("tracer", (u64)next_stop(tracer));
    shared[0] = 1;
    say("tracee", (u64)next_stop(tracee));
}

int program(int argc, char** argv, char** envp) {
    arguments = argv, environment = envp;
    if (argc > 1) return (int)sys(__NR_close, -1) & 7;
    show_calls(PTRACE_O_TRACESYSGOOD);
    show_calls(0);
    change_calls();
    follow_one(forks, 2);
    follow_one(signals, 1);
    follow_one(executes, 1);
    after_traced_execve();
    without_tracer();
    return 0;
}
