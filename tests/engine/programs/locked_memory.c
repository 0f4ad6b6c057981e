// mlockall: the program's memory is locked, now and in future, and RLIMIT_MEMLOCK counts that memory only.
#include "tiny.h"

#include <sys/resource.h>

static const u64 kMega = 1 << 20;

/// VmLck of this process in KiB.
static u64 locked(void) {
    static char text[8192];
    const int fd = (int)sys(__NR_open, "/proc/self/status", O_RDONLY);
    const long bytes = sys(__NR_read, fd, text, sizeof text - 1);
    sys(__NR_close, fd);
    for (long i = 0; i + 6 < bytes; ++i) {
        if (text[i] != 'V' || text[i + 2] != 'L' || text[i + 3] != 'c') continue;
        u64 value = 0;
        for (; text[i] != '\n'; ++i)
            if (text[i] >= '0' && text[i] <= '9') value = value * 10 + (u64)(text[i] - '0');
        return value;
    }
    return ~0ul;
}

static long map_bytes(u64 bytes) {
    return sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void set_limit(u64 bytes) {
    struct {
        u64 soft, hard;
    } limit;
    sys(__NR_getrlimit, RLIMIT_MEMLOCK, &limit);
    if (limit.hard < bytes) {  // raising it needs privilege
        put("the hard limit is too low\n");
        exit_program(0);
    }
    limit.soft = bytes;
    must(sys(__NR_setrlimit, RLIMIT_MEMLOCK, &limit) == 0, "setrlimit");
}

static void lock_in_future(int flags) {
    say("future", (u64)-sys(__NR_mlockall, flags));
    const u64 before = locked();
    const long at = map_bytes(2 * kMega);
    say("mapped", at > 0);
    say("more", locked() - before);
    say("too much", (u64)-map_bytes(32 * kMega) & 0xffff);
    const u64 end = (u64)sys(__NR_brk, 0);
    must((u64)sys(__NR_brk, end + kMega) == end + kMega, "brk");
    say("with break", locked() - before);
    sys(__NR_brk, end);
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        const long own = map_bytes(kMega);
        say("in the child", locked());
        exit_program(own > 0 ? 5 : 6);
    }
    say("status", (u64)wait_status(child));
    sys(__NR_munmap, at, 2 * kMega);
    say("back", locked() - before);
    say("unlock", (u64)-sys(__NR_munlockall));
    say("left", locked());
    map_bytes(kMega);
    say("no longer", locked());
}

int program(int argc, char** argv, char** envp) {
    set_limit(6 * kMega);
    sys(__NR_setresuid, 65534, 65534, 65534);
    sys(__NR_prctl, PR_SET_DUMPABLE, 1);
    for (int flags = 0; flags < 10; flags += flags < 4 ? 4 : 1) say("flags", (u64)-sys(__NR_mlockall, flags));
    sys(__NR_munlockall);
    say("current", (u64)-sys(__NR_mlockall, MCL_CURRENT));
    say("locked", locked() > 16 && locked() < 6 << 10);
    say("future only", (u64)-sys(__NR_munlockall));
    lock_in_future(MCL_FUTURE);
    lock_in_future(MCL_FUTURE | MCL_ONFAULT);
    set_limit(4096);
    say("small limit", (u64)-sys(__NR_mlockall, MCL_CURRENT));
    set_limit(0);
    say("no right", (u64)-sys(__NR_mlockall, MCL_FUTURE));
    return 0;
}
