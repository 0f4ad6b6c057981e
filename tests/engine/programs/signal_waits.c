// Blocking calls and signals: EINTR, SA_RESTART, sigsuspend, sigtimedwait, ppoll's mask, pause, signalfd; signals that are
// ignored or blocked, which do not interrupt.
#include "tiny.h"

static volatile int hits;
static void handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info, (void)context;
    hits = hits + 1;
}

/// Returns once the parent sleeps: on a busy machine it may need longer than any nap to come to its call.
static void until_parent_sleeps(void) {
    char path[40] = "/proc/", text[64];
    char* end = path + 6;
    char digits[24];
    int count = 0;
    for (long left = sys(__NR_getppid); left != 0; left /= 10) digits[count++] = (char)('0' + left % 10);
    while (count > 0) *end++ = digits[--count];
    for (const char* rest = "/stat"; *rest != 0; ++rest) *end++ = *rest;
    for (int tries = 0; tries < 2000; ++tries) {
        const long file = sys(__NR_open, path, 0);
        const long bytes = sys(__NR_read, file, text, sizeof text);
        sys(__NR_close, file);
        long at = 0;
        while (at + 2 < bytes && text[at] != ')') ++at;
        if (at + 2 >= bytes || text[at + 2] == 'S') return;
        nap_ms(5);
    }
}

/// A child that sends `signal` to its parent `times` times, 60 ms apart.
static long start_sender(int signal, int times) {
    const long parent = sys(__NR_getpid);
    const long child = sys(__NR_fork);
    if (child == 0) {
        for (int i = 0; i < times; ++i) {
            nap_ms(60);
            until_parent_sleeps();
            sys(__NR_kill, parent, signal);
        }
        nap_ms(60);
        exit_program(0);
    }
    return child;
}

/// A poll of an empty pipe while a child sends the signal and afterwards writes a byte: 1 if the signal does not interrupt.
static void poll_during(const char* what, int signal, int ends[2]) {
    const long child = sys(__NR_fork);
    char byte;
    if (child == 0) {
        nap_ms(60);
        until_parent_sleeps();
        sys(__NR_kill, sys(__NR_getppid), signal);
        nap_ms(60);
        sys(__NR_write, ends[1], "x", 1);
        sys(__NR_exit_group, 0);
    }
    struct pollfd poll = {ends[0], POLLIN, 0};
    say(what, (u64)sys(__NR_poll, &poll, 1, 60000));
    wait_status(child);
    sys(__NR_read, ends[0], &byte, 1);
}

static void undelivered_signals(int ends[2]) {
    struct action ignore = {(handler_t)(u64)1, 0, 0, 0};
    sys(__NR_rt_sigaction, SIGFPE, &ignore, 0, 8);
    sys(__NR_rt_sigaction, SIGTRAP, &ignore, 0, 8);
    poll_during("an ignored SIGFPE", SIGFPE, ends);
    poll_during("an ignored SIGTRAP", SIGTRAP, ends);
    on_signal(SIGSEGV, handler, 0, 0);
    const int before = hits;
    change_mask(SIG_BLOCK, MASK_OF(SIGSEGV));
    poll_during("a blocked SIGSEGV", SIGSEGV, ends);
    say("still blocked", (u64)(hits - before));
    change_mask(SIG_UNBLOCK, MASK_OF(SIGSEGV));
    say("unblocked", (u64)(hits - before));
    change_mask(SIG_BLOCK, MASK_OF(SIGFPE));
    raise_here(SIGFPE);
    u64 pending = 0;
    sys(__NR_rt_sigpending, &pending, 8);
    say("blocked and ignored is pending", pending);
    change_mask(SIG_UNBLOCK, MASK_OF(SIGFPE));
}

/// Calls with a mask that lets a signal through which was pending before, for signals that the engine keeps itself.
static void kept_signals(void) {
    static const int kNumbers[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGFPE};
    struct timespec time = {20, 0};
    u64 none = 0;
    struct { u64* mask; u64 size; } both = {&none, 8};
    char event[16];
    const long set = sys(__NR_epoll_create1, 0);
    for (unsigned i = 0; i < sizeof kNumbers / sizeof *kNumbers; ++i) {
        const int number = kNumbers[i], before = hits;
        on_signal(number, handler, 0, 0);
        change_mask(SIG_BLOCK, MASK_OF(number));
        sys(__NR_kill, sys(__NR_getpid), number);
        say("ppoll", (u64)-sys(__NR_ppoll, 0, 0, &time, &none, 8));
        sys(__NR_kill, sys(__NR_getpid), number);
        say("pselect", (u64)-sys(__NR_pselect6, 0, 0, 0, 0, &time, &both));
        raise_here(number);
        say("epoll_pwait", (u64)-sys(__NR_epoll_pwait, set, event, 1, 20000, &none, 8));
        raise_here(number);
        say("sigsuspend", (u64)-sys(__NR_rt_sigsuspend, &none, 8));
        say("hits", (u64)(hits - before));
        say("still blocked", change_mask(SIG_UNBLOCK, MASK_OF(number)) & MASK_OF(number));
        // Ignored, it ends no call.
        struct action ignore = {(handler_t)(u64)1, 0, 0, 0};
        sys(__NR_rt_sigaction, number, &ignore, 0, 8);
        change_mask(SIG_BLOCK, MASK_OF(number));
        raise_here(number);
        struct timespec short_time = {0, 10000000};
        say("ignored", (u64)-sys(__NR_ppoll, 0, 0, &short_time, &none, 8));
        change_mask(SIG_UNBLOCK, MASK_OF(number));
    }
}

int program(int argc, char** argv, char** envp) {
    int ends[2];
    char byte;
    out_size = 0;
    on_signal(SIGUSR1, handler, 0, 0);
    sys(__NR_pipe2, ends, 0);
    long child = start_sender(SIGUSR1, 1);
    say("read", (u64)-sys(__NR_read, ends[0], &byte, 1));
    wait_status(child);
    child = start_sender(SIGUSR1, 1);
    say("pause", (u64)-sys(__NR_pause));
    wait_status(child);
    child = start_sender(SIGUSR1, 1);
    struct timespec long_time = {5, 0}, left = {0, 0};
    say("nanosleep", (u64)-sys(__NR_nanosleep, &long_time, &left));
    say("left", left.tv_sec == 4);
    wait_status(child);
    on_signal(SIGUSR1, handler, SA_RESTART, 0);
    child = sys(__NR_fork);
    if (child == 0) {
        nap_ms(60);
        until_parent_sleeps();
        sys(__NR_kill, sys(__NR_getppid), SIGUSR1);
        nap_ms(60);
        sys(__NR_write, ends[1], "x", 1);
        sys(__NR_exit_group, 0);
    }
    say("read restarted", (u64)sys(__NR_read, ends[0], &byte, 1));
    wait_status(child);
    child = start_sender(SIGUSR1, 1);
    struct pollfd poll = {ends[0], POLLIN, 0};
    say("poll never restarts", (u64)-sys(__NR_poll, &poll, 1, 5000));
    wait_status(child);
    child = start_sender(SIGUSR1, 1);
    int status = 0;
    say("wait restarted", (u64)(sys(__NR_wait4, child, &status, 0, 0) == child));
    say("hits", (u64)hits);
    undelivered_signals(ends);
    kept_signals();
    // signal masks for the duration of a call
    change_mask(SIG_BLOCK, MASK_OF(SIGUSR1));
    u64 none = 0;
    raise_here(SIGUSR1);
    say("sigsuspend", (u64)-sys(__NR_rt_sigsuspend, &none, 8));
    say("hits", (u64)hits);
    say("mask", change_mask(SIG_BLOCK, 0));
    raise_here(SIGUSR1);
    struct timespec zero = {0, 0};
    say("ppoll", (u64)-sys(__NR_ppoll, &poll, 1, &long_time, &none, 8));
    say("hits", (u64)hits);
    raise_here(SIGUSR1);
    struct { u64* mask; u64 size; } both = {&none, 8};
    say("pselect", (u64)-sys(__NR_pselect6, 0, 0, 0, 0, &long_time, &both));
    say("hits", (u64)hits);
    raise_here(SIGUSR1);
    u64 set = MASK_OF(SIGUSR1);
    siginfo_t info;
    say("sigtimedwait", (u64)sys(__NR_rt_sigtimedwait, &set, &info, &zero, 8));
    say("code", (u64)(unsigned)info.si_code);
    say("nothing", (u64)-sys(__NR_rt_sigtimedwait, &set, &info, &zero, 8));
    siginfo_t queued = {.si_code = SI_QUEUE};
    queued.si_value.sival_int = 1234;
    queued.si_signo = 40;
    set |= MASK_OF(40);
    change_mask(SIG_BLOCK, set);
    for (int i = 0; i < 3; ++i) {
        queued.si_value.sival_int = 1234 + i;
        sys(__NR_rt_sigqueueinfo, sys(__NR_getpid), 40, &queued);
    }
    const long fd = sys(__NR_signalfd4, -1, &set, 8, 0);
    struct { uint32_t number; int error, code, pid, uid, fd, tid, band, overrun, trap, status, value; char rest[80]; } from_fd;
    for (int i = 0; i < 3; ++i) {
        say("signalfd", (u64)sys(__NR_read, fd, &from_fd, 128));
        say("number", from_fd.number);
        say("value", (u64)from_fd.value);
    }
    say("hits", (u64)hits);
    return 0;
}
