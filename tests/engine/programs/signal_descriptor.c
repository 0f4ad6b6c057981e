// signalfd of SIGSEGV, SIGBUS and SIGTRAP that are sent to the process, to a thread, by sigqueue, before and during a
// wait: read, poll, ppoll, select, epoll; several at once; what is left is pending, and is delivered when unblocked.
#include "tiny.h"
#include "tiny_thread.h"

#include <sys/epoll.h>

static volatile int hits, last;
static void handler(int signal, siginfo_t* info, void* context) {
    (void)info, (void)context;
    last = signal;
    hits = hits + 1;
}

struct from_fd {
    uint32_t number;
    int error, code, pid, uid, fd, tid, band, overrun, trap, status, value;
    char rest[80];
};

static const int kSignals[] = {SIGSEGV, SIGBUS, SIGTRAP};

static void take(const char* what, long fd) {
    struct from_fd got[4];
    const long bytes = sys(__NR_read, fd, got, sizeof got);
    say(what, (u64)bytes);
    for (long i = 0; i * 128 < bytes; ++i) {
        say("number", got[i].number);
        say("code", (u64)(unsigned)got[i].code);
        say("value", (u64)(unsigned)got[i].value);
        say("own", got[i].pid == sys(__NR_getpid));
    }
}

static u64 pending(void) {
    u64 set = 0;
    sys(__NR_rt_sigpending, &set, 8);
    return set;
}

static void send_later(int signal) {
    const long parent = sys(__NR_getpid);
    if (sys(__NR_fork) != 0) return;
    nap_ms(60);
    sys(__NR_kill, parent, signal);
    sys(__NR_exit_group, 0);
}

static void queue(int signal, int value) {
    siginfo_t info = {.si_code = SI_QUEUE, .si_signo = signal};
    info.si_value.sival_int = value;
    info.si_pid = (int)sys(__NR_getpid);
    sys(__NR_rt_sigqueueinfo, sys(__NR_getpid), signal, &info);
}

static void each_way(long fd, int signal) {
    const long self = sys(__NR_getpid);
    struct pollfd poll = {(int)fd, POLLIN, 0};
    const struct timespec zero = {0, 0}, minute = {60, 0};
    say("signal", (u64)signal);
    say("nothing", (u64)-sys(__NR_read, fd, &poll, 128));
    sys(__NR_kill, self, signal);
    sys(__NR_kill, self, signal);
    say("pending", pending());
    say("poll", (u64)sys(__NR_poll, &poll, 1, 60000));
    say("pending", pending());
    take("kill", fd);
    say("pending", pending());
    sys(__NR_tgkill, self, self, signal);
    say("poll", (u64)sys(__NR_poll, &poll, 1, 0));
    take("tgkill", fd);
    queue(signal, 77);
    take("sigqueue", fd);
    send_later(signal);
    poll.revents = 0;
    say("poll waits", (u64)sys(__NR_poll, &poll, 1, 60000));
    say("events", (u64)poll.revents);
    wait_status(-1);
    take("after poll", fd);
    // A mask for the wait that blocks the signal as well, and one that does not.
    u64 mask = MASK_OF(SIGSEGV) | MASK_OF(SIGBUS) | MASK_OF(SIGTRAP);
    send_later(signal);
    say("ppoll waits", (u64)sys(__NR_ppoll, &poll, 1, &minute, &mask, 8));
    wait_status(-1);
    mask = 0;
    say("ppoll that unblocks", (u64)-sys(__NR_ppoll, &poll, 1, &minute, &mask, 8));
    say("hits", (u64)hits);
    say("last", (u64)last);
    sys(__NR_kill, self, signal);
    u64 read_set[16] = {0};
    read_set[fd / 64] = 1ul << (fd % 64);
    say("select", (u64)sys(__NR_select, fd + 1, read_set, 0, 0, 0));
    take("after select", fd);
    const long epoll = sys(__NR_epoll_create1, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 5};
    sys(__NR_epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event);
    say("epoll", (u64)sys(__NR_epoll_wait, epoll, &event, 1, 0));
    sys(__NR_kill, self, signal);
    say("epoll", (u64)sys(__NR_epoll_wait, epoll, &event, 1, 60000));
    say("again", (u64)sys(__NR_epoll_wait, epoll, &event, 1, 60000));
    take("after epoll", fd);
    send_later(signal);
    say("epoll waits", (u64)sys(__NR_epoll_wait, epoll, &event, 1, 60000));
    wait_status(-1);
    sys(__NR_close, epoll);
    siginfo_t info;
    u64 set = 1ul << (signal - 1);
    say("sigtimedwait", (u64)sys(__NR_rt_sigtimedwait, &set, &info, &zero, 8));
    say("code", (u64)(unsigned)info.si_code);
}

static long shared_fd;

static int reader(void* unused) {
    (void)unused;
    struct from_fd got;
    say("a thread reads", (u64)sys(__NR_read, shared_fd, &got, sizeof got));
    say("number", got.number);
    return 0;
}

static char stack[65536];
static volatile int running = 1;

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    u64 set = 0;
    for (int i = 0; i < 3; ++i) set |= 1ul << (kSignals[i] - 1), on_signal(kSignals[i], handler, 0, 0);
    change_mask(SIG_BLOCK, set);
    const long fd = sys(__NR_signalfd4, -1, &set, 8, 04000);
    for (int i = 0; i < 3; ++i) each_way(fd, kSignals[i]);
    for (int i = 0; i < 3; ++i) queue(kSignals[i], i);
    take("all at once", fd);
    sys(__NR_close, fd);
    // Bad addresses while a signal is pending. The read takes the signal all the same.
    shared_fd = sys(__NR_signalfd4, -1, &set, 8, 0);
    sys(__NR_kill, sys(__NR_getpid), SIGSEGV);
    say("bad mask", (u64)-sys(__NR_ppoll, 0, 0, 0, 8, 8));
    say("bad address", (u64)-sys(__NR_read, shared_fd, 8, 128));
    say("pending", pending());
    sys(__NR_kill, sys(__NR_getpid), SIGSEGV);
    take("a signal", shared_fd);
    start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, reader, 0, stack + sizeof stack, &running, 0);
    nap_ms(60);
    sys(__NR_kill, sys(__NR_getpid), SIGBUS);
    wait_cleared(&running);
    hits = 0;
    sys(__NR_kill, sys(__NR_getpid), SIGTRAP);
    change_mask(SIG_UNBLOCK, set);
    say("delivered", (u64)hits);
    return 0;
}
