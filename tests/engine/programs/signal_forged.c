// A program may send itself a signal with the si_code of a fault, as crash reporters do: it is delivered like any other.
#include "tiny.h"

static volatile int seen, code;

static void on_any(int number, siginfo_t* info, void* context) {
    seen = number;
    code = info->si_code;
}

static void send(int number, int si_code, int masked) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = si_code;
    info.si_addr = (void*)0x1234;
    seen = code = 0;
    if (masked) change_mask(SIG_BLOCK, MASK_OF(number));
    say("sent", (u64)sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), number, &info));
    if (masked) {
        say("blocked", seen);
        change_mask(SIG_UNBLOCK, MASK_OF(number));
    }
    say("seen", seen);
    say("code", code);
}

int program(int argc, char** argv, char** envp) {
    static const int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (unsigned i = 0; i < 4; ++i) {
        on_signal(kSignals[i], on_any, 0, 0);
        send(kSignals[i], 1, 0);
        send(kSignals[i], 1, 1);
        send(kSignals[i], 128, 0);
        send(kSignals[i], -6, 0);
    }
    return 0;
}
