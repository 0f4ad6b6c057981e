// SIGSEGV, SIGBUS, SIGTRAP, SIGILL and SIGFPE that are sent, not raised: to a process of which some thread blocks them, to
// a thread, by sigqueue, by a child; while all threads block them; sigpending and sigtimedwait; twice; over a fork.
#include "tiny.h"
#include "tiny_thread.h"

static const int kSignals[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGILL, SIGFPE};
static long first, second;  // tids
static volatile int got_signal, got_code, got_value, got_count;
static volatile long got_by;

static void handler(int signal, siginfo_t* info, void* context) {
    (void)context;
    got_by = sys(__NR_gettid);
    got_code = info->si_code;
    got_value = info->si_value.sival_int;
    got_count = got_count + 1;
    got_signal = signal;
}

static void set_mask(int how) {
    u64 set = 0;
    for (int i = 0; i < 5; ++i) set |= 1ul << (kSignals[i] - 1);
    sys(__NR_rt_sigprocmask, how, &set, 0, 8);
}

static u64 pending(void) {
    u64 set = 0;
    sys(__NR_rt_sigpending, &set, 8);
    return set;
}

/// What the second thread does next; it answers by setting it to 0.
static volatile int order;
enum { kNothing, kBlock, kUnblock, kPending, kWait, kEnd };
static volatile u64 answer;
static volatile int waited_signal, waited_code;

static void wait_for_signal(int signal, long seconds) {
    u64 set = 1ul << (signal - 1);
    siginfo_t info = {0};
    const struct timespec limit = {seconds, 0};
    const long got = sys(__NR_rt_sigtimedwait, &set, &info, &limit, 8);
    waited_signal = (int)got;
    waited_code = got > 0 ? info.si_code : 0;
}

static int wait_on = SIGSEGV;

static int other(void* unused) {
    (void)unused;
    second = sys(__NR_gettid);
    for (;;) {
        const int now = order;
        if (now == kBlock) set_mask(SIG_BLOCK);
        if (now == kUnblock) set_mask(SIG_UNBLOCK);
        if (now == kPending) answer = pending();
        if (now == kWait) wait_for_signal(wait_on, 20);
        if (now != kNothing) order = kNothing;
        if (now == kEnd) return 0;
        nap_ms(1);
    }
}

static void give(int what) {
    order = what;
    while (order) nap_ms(1);
}

static void wait_handled(const char* what, int signal) {
    for (int i = 0; i < 3000 && !got_signal; ++i) nap_ms(1);
    put(what), put(" of "), say("signal", (u64)signal);
    say(" got", (u64)got_signal);
    say(" code", (u64)(long)got_code);
    say(" by the second thread", got_by == second);
    say(" times", (u64)got_count);
    got_signal = got_code = got_count = 0;
    got_by = 0;
}

static void queue_to(int whole, int signal, int value) {
    siginfo_t info = {0};
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = (int)sys(__NR_getpid);
    info.si_value.sival_int = value;
    if (whole)
        sys(__NR_rt_sigqueueinfo, sys(__NR_getpid), signal, &info);
    else
        sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), first, signal, &info);
}

static void one_thread_blocks(int signal) {
    sys(__NR_kill, sys(__NR_getpid), signal);
    wait_handled("kill", signal);
    queue_to(1, signal, 77);
    wait_handled("sigqueue", signal);
    const long parent = sys(__NR_getpid);
    const long child = sys(__NR_fork);
    if (child == 0) {
        sys(__NR_kill, parent, signal);
        sys(__NR_exit_group, 0);
    }
    wait_status(child);
    wait_handled("from a child", signal);
    // To the thread that blocks it: the other one does not get it.
    for (int whole = 0; whole < 2; ++whole) {
        if (whole)
            queue_to(0, signal, 5);
        else
            sys(__NR_tgkill, parent, first, signal);
        nap_ms(30);
        say("to the thread: pending here", pending());
        give(kPending);
        say(" pending there", answer);
        say(" handled", (u64)got_count);
        wait_for_signal(signal, 0);
        say(" waited", (u64)waited_signal);
        say(" code", (u64)(long)waited_code);
    }
}

static void all_block(int signal) {
    give(kBlock);
    sys(__NR_kill, sys(__NR_getpid), signal);
    sys(__NR_kill, sys(__NR_getpid), signal);
    nap_ms(30);
    say("blocked: pending here", pending());
    give(kPending);
    say(" pending there", answer);
    const long child = sys(__NR_fork);
    if (child == 0) sys(__NR_exit_group, pending() != 0);
    say(" pending in a child", (u64)wait_status(child));
    give(kUnblock);
    wait_handled("unblocked", signal);
    say(" pending after that", pending());
    give(kBlock);
    queue_to(1, signal, 9);
    nap_ms(30);
    wait_on = signal;
    give(kWait);
    say("waited afterwards", (u64)waited_signal);
    say(" code", (u64)(long)waited_code);
    waited_signal = 0;
    order = kWait;
    nap_ms(50);
    sys(__NR_kill, sys(__NR_getpid), signal);
    while (order) nap_ms(1);
    say("waited meanwhile", (u64)waited_signal);
    say(" code", (u64)(long)waited_code);
    say(" handled", (u64)got_count);
    say(" pending", pending());
    give(kUnblock);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    static char stack[65536] __attribute__((aligned(16)));
    static volatile int running = 1;
    first = sys(__NR_gettid);
    for (int i = 0; i < 5; ++i) on_signal(kSignals[i], handler, SA_SIGINFO, 0);
    start_thread(kThreadFlags | CLONE_CHILD_CLEARTID, other, 0, stack + sizeof stack, &running, 0);
    while (!second) nap_ms(1);
    set_mask(SIG_BLOCK);
    for (int i = 0; i < 5; ++i) {
        one_thread_blocks(kSignals[i]);
        all_block(kSignals[i]);
        flush();
    }
    give(kEnd);
    wait_cleared(&running);
    return 0;
}
