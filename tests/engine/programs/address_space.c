// RLIMIT_AS: the program reads back the limit that it set, the limit covers the program's own memory, and children and
// execve keep it.
#include "tiny.h"

#include <sys/resource.h>

struct limit {
    u64 soft, hard;
};

static const u64 kMega = 1 << 20;

static void show_limit(const char* name) {
    struct limit limit = {1, 1};
    must(sys(__NR_prlimit64, 0, RLIMIT_AS, 0, &limit) == 0, "prlimit64");
    say(name, limit.soft);
    say("hard", limit.hard);
    must(sys(__NR_getrlimit, RLIMIT_AS, &limit) == 0, "getrlimit");
    say("the same", limit.soft);
}

static long map_anonymous(u64 bytes, int protection, int flags) {
    return sys(__NR_mmap, 0, bytes, protection, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void use_memory(void) {
    long at = map_anonymous(16 * kMega, PROT_READ | PROT_WRITE, 0);
    say("fits", at > 0);
    say("too large", (u64)-map_anonymous(100 * kMega, PROT_NONE, MAP_NORESERVE));
    say("mapped over", sys(__NR_mmap, at, 16 * kMega, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    long second = map_anonymous(40 * kMega, PROT_NONE, 0);
    say("second fits", second > 0);
    say("sum too large", (u64)-map_anonymous(16 * kMega, PROT_READ | PROT_EXEC, 0));
    say("grown too large", (u64)-sys(__NR_mremap, at, 16 * kMega, 64 * kMega, MREMAP_MAYMOVE));
    const u64 break_at = (u64)sys(__NR_brk, 0);
    say("break too far", (u64)sys(__NR_brk, break_at + 32 * kMega) == break_at);
    say("break", (u64)sys(__NR_brk, break_at + 8192) == break_at + 8192);
    sys(__NR_munmap, second, 40 * kMega);
    long code = map_anonymous(16 * kMega, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    say("fits again", code > 0);
    *(unsigned char*)code = 0xc3;
    ((void (*)(void))code)();
    sys(__NR_munmap, code, 16 * kMega);
    sys(__NR_munmap, at, 16 * kMega);
}

int program(int argc, char** argv, char** envp) {
    if (argc > 1) {
        show_limit("after execve");
        use_memory();
        return 0;
    }
    struct limit limit = {64 * kMega, 128 * kMega}, old;
    say("set", (u64)-sys(__NR_setrlimit, RLIMIT_AS, &limit));
    show_limit("soft");
    use_memory();
    limit.soft = 256 * kMega;
    say("soft above hard", (u64)-sys(__NR_prlimit64, 0, RLIMIT_AS, &limit, &old));
    say("bad pointer to set", (u64)-sys(__NR_setrlimit, RLIMIT_AS, (void*)8));
    say("bad pointer to get", (u64)-sys(__NR_getrlimit, RLIMIT_AS, (void*)8));
    limit.soft = 72 * kMega;
    say("changed", (u64)-sys(__NR_prlimit64, sys(__NR_getpid), RLIMIT_AS, &limit, &old));
    say("old", old.soft);
    flush();
    const long pid = sys(__NR_fork);
    if (pid == 0) {
        show_limit("in the child");
        flush();
        char* arguments[] = {argv[0], (char*)"again", 0};
        sys(__NR_execve, argv[0], arguments, envp);
        exit_program(1);
    }
    say("status", (u64)wait_status(pid));
    return 0;
}
