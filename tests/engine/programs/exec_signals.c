// Signals over an execve: blocked ones that are pending stay so, one of each number; one that comes while the call is
// made runs its handler before it, or meets the new program.
#include "tiny.h"

static const int kKept[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGUSR1};
static int ready[2], handled[2];

static void on_usr1(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info, (void)context;
    sys(__NR_write, handled[1], "h", 1);
}

static void ignore_it(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info, (void)context;
}

static void execute(char* mode, char** envp) {
    char* words[] = {(char*)"exec_signals", mode, 0};
    sys(__NR_execve, "/proc/self/exe", words, envp);
    must(0, "execve");
}

static u64 pending(void) {
    u64 set = 0;
    sys(__NR_rt_sigpending, &set, 8);
    return set;
}

/// Process signals, and signals of the thread.
static void send_kept(int to_thread) {
    const long pid = sys(__NR_getpid);
    for (unsigned i = 0; i < 4; ++i)
        for (int times = 0; times < 3; ++times) {
            if (to_thread)
                sys(__NR_tgkill, pid, sys(__NR_gettid), kKept[i]);
            else
                sys(__NR_kill, pid, kKept[i]);
        }
}

/// In the new program: takes what is pending.
static int take_kept(void) {
    say("pending after the exec", pending());
    for (unsigned i = 0; i < 4; ++i) {
        const u64 set = MASK_OF(kKept[i]);
        siginfo_t info = {0};
        const struct timespec limit = {0, 0};
        say(" taken", (u64)sys(__NR_rt_sigtimedwait, &set, &info, &limit, 8));
        say(" code", (u64)(long)info.si_code);
        say(" again", (u64)sys(__NR_rt_sigtimedwait, &set, &info, &limit, 8));
    }
    return 0;
}

static void kept_over_exec(char* mode, int to_thread, char** envp) {
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        u64 set = 0;
        for (unsigned i = 0; i < 4; ++i) {
            set |= MASK_OF(kKept[i]);
            on_signal(kKept[i], ignore_it, 0, 0);
        }
        change_mask(SIG_BLOCK, set);
        send_kept(to_thread);
        static char no_file[] = "/nonexistent";
        char* words[] = {no_file, 0};
        say("no such program", (u64)sys(__NR_execve, no_file, words, envp));
        say("pending", pending());
        flush();
        execute(mode, envp);
    }
    say("status", (u64)wait_status(child));
}

static const int kUntilSent = 9;  ///< a descriptor of the new program: at its end once the signal has been sent

/// Each signal is handled, or ends the new program, which would end by itself otherwise.
static void meets_one_of_both(char** envp) {
    int lost = 0;
    sys(__NR_pipe2, ready, 0);
    sys(__NR_pipe2, handled, O_NONBLOCK);
    for (int round = 0; round < 40; ++round) {
        int sent[2];
        sys(__NR_pipe2, sent, 0);
        const long child = sys(__NR_fork);
        if (child == 0) {
            sys(__NR_dup2, sent[0], kUntilSent);
            sys(__NR_close, sent[1]);
            on_signal(SIGUSR1, on_usr1, SA_RESTART, 0);
            sys(__NR_write, ready[1], "r", 1);
            execute((char*)"wait", envp);
        }
        char byte = 0;
        sys(__NR_read, ready[0], &byte, 1);
        const struct timespec wait = {0, round * 100000};
        sys(__NR_nanosleep, &wait, 0);
        sys(__NR_kill, child, SIGUSR1);
        sys(__NR_close, sent[0]);
        sys(__NR_close, sent[1]);
        byte = 0;
        const int status = wait_status(child);
        sys(__NR_read, handled[0], &byte, 1);
        if ((status == SIGUSR1) == (byte == 'h')) ++lost;
    }
    say("lost or met by both", (u64)lost);
}

int program(int argc, char** argv, char** envp) {
    if (argc > 1 && same_text(argv[1], "take")) return take_kept();
    if (argc > 1 && same_text(argv[1], "wait")) {
        char byte;
        sys(__NR_read, kUntilSent, &byte, 1);
        return 0;
    }
    kept_over_exec((char*)"take", 0, envp);
    kept_over_exec((char*)"take", 1, envp);
    meets_one_of_both(envp);
    return 0;
}
