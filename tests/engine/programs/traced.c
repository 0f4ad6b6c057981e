// A process traces another one with the requests of ptrace that the engine supports: stops, signals, options, memory.
#include <linux/ptrace.h>

#include "tiny_thread.h"

enum { kTrapped = 5, kStopped = 19 };

static volatile int number = 4711;

static long trace(long request, long task, long address, void* data) {
    return sys(__NR_ptrace, request, task, address, data);
}

static int next_stop(long child) {
    int status = 0;
    must(sys(__NR_wait4, child, &status, 0x40000000, 0) == child, "wait4 reports the child");  // __WALL
    return status;
}

/// Writes code and runs it, repeatedly. Under the engine each such write faults; the tracer must not see these faults.
static int runs_new_code(void) {
    volatile unsigned char* page = map(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
        page[0] = 0xb8, page[1] = (unsigned char)i, page[2] = page[3] = page[4] = 0, page[5] = 0xc3;
        sum += (int)((u64(*)(void))(u64)page)();
    }
    return sum;
}

static void traced_by_traceme(void) {
    const long child = sys(__NR_fork);
    if (child == 0) {
        say("traceme", (u64)trace(PTRACE_TRACEME, 0, 0, 0));
        flush();
        number = 12;
        sys(__NR_kill, sys(__NR_getpid), kTrapped);
        number = runs_new_code();
        sys(__NR_kill, sys(__NR_getpid), 10);  // SIGUSR1, which the tracer suppresses
        sys(__NR_exit_group, 7);
    }
    say("stop", (u64)next_stop(child));
    siginfo_t info;
    say("siginfo", (u64)trace(PTRACE_GETSIGINFO, child, 0, &info));
    say("signal", (u64)info.si_signo);
    say("code", (u64)info.si_code);
    long word = 0;
    say("peek", (u64)trace(PTRACE_PEEKDATA, child, (long)&number, &word));
    say("word", (u64)(word & 0xffffffff));
    say("continue", (u64)trace(PTRACE_CONT, child, 0, 0));
    say("stop", (u64)next_stop(child));
    say("peek", (u64)trace(PTRACE_PEEKDATA, child, (long)&number, &word));
    say("word", (u64)(word & 0xffffffff));
    say("continue", (u64)trace(PTRACE_CONT, child, 0, 0));
    say("end", (u64)next_stop(child));
}

static void attached(void) {
    volatile int* const go = (volatile int*)sys(__NR_mmap, 0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const long child = sys(__NR_fork);
    if (child == 0) {
        while (!*go) runs_new_code();
        sys(__NR_exit_group, 9);
    }
    say("attach", (u64)trace(PTRACE_ATTACH, child, 0, 0));
    siginfo_t info;
    must(sys(__NR_waitid, 1, child, &info, 4 | 2, 0) == 0, "waitid");  // P_PID; WEXITED, WSTOPPED
    say("stop", (u64)info.si_status);
    say("code", (u64)info.si_code);
    say("options", (u64)trace(PTRACE_SETOPTIONS, child, 0, (void*)PTRACE_O_TRACEEXIT));
    say("detach", (u64)trace(PTRACE_DETACH, child, 0, 0));
    *go = 1;
    say("end", (u64)next_stop(child));
}

static void traced_over_execve(char** argv, char** envp) {
    char* arguments[] = {argv[0], (char*)"again", 0};
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        trace(PTRACE_TRACEME, 0, 0, 0);
        sys(__NR_execve, argv[0], arguments, envp);
        sys(__NR_exit_group, 1);
    }
    say("at execve", (u64)next_stop(child));
    say("options", (u64)trace(PTRACE_SETOPTIONS, child, 0, (void*)PTRACE_O_EXITKILL));
    say("continue", (u64)trace(PTRACE_CONT, child, 0, 0));
    say("end", (u64)next_stop(child));
}

int program(int argc, char** argv, char** envp) {
    if (argc > 1) return runs_new_code() & 127;
    traced_by_traceme();
    attached();
    traced_over_execve(argv, envp);
    say("not a tracee", (u64)-trace(PTRACE_CONT, sys(__NR_getpid), 0, 0));
    return 0;
}
