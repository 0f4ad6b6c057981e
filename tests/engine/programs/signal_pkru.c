// Protection-key rights: a handler begins with the kernel's initial rights, and its return restores the program's.
#include "tiny.h"
#include <cpuid.h>

static int usable(void) {
    unsigned a, b, c, d;
    if (__get_cpuid_max(0, 0) < 7) return 0;
    __cpuid_count(7, 0, a, b, c, d);
    return (c & bit_OSPKE) != 0;
}

static unsigned rights(void) {
    unsigned low, high;
    __asm__ volatile("rdpkru" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static void set_rights(unsigned value) {
    __asm__ volatile("wrpkru" : : "a"(value), "c"(0), "d"(0) : "memory");
}

static void handler(int number, siginfo_t* info, void* context) {
    (void)number, (void)info, (void)context;
    say("in the handler", rights());
    set_rights(0x30);
}

int program(int argc, char** argv, char** envp) {
    if (!usable()) return 0;
    on_signal(SIGUSR1, handler, 0, 0);
    say("at the start", rights());
    set_rights(0x5555555c);
    raise_here(SIGUSR1);
    say("after the handler", rights());
    return 0;
}
