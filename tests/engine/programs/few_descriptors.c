// A table of descriptors that is full, overwritten or closed under a low limit that cannot be raised: execve, execveat,
// fork and vfork work as with an empty one.
#include "tiny_thread.h"

enum { kLimit = 40 };

static char stack[16384] __attribute__((aligned(16)));
static char** environment;
static const char* own_path;

static void fill(void) {
    while (sys(__NR_dup, 1) >= 0) {
    }
}

static int child(void* how) {
    char* words[] = {"next", "next", 0};
    fill();
    for (int fd = 3; fd < 1200; ++fd) sys(__NR_dup2, 1, fd);
    if (how) sys(__NR_close_range, 3, ~0u, 0);
    if (how) fill();
    sys(__NR_execve, own_path, words, environment);
    return 9;
}

static void run_children(const char* how) {
    flush();
    const long forked = sys(__NR_fork);
    if (forked == 0) exit_program(child((void*)how));
    say("fork", (u64)wait_status(forked));
    flush();
    const long shared = start_thread(CLONE_VM | CLONE_VFORK | SIGCHLD, child, (void*)how, stack + sizeof stack, 0, 0);
    say("vfork", (u64)wait_status(shared));
}

int program(int argc, char** argv, char** envp) {
    struct {
        u64 now, most;
    } limit = {kLimit, kLimit};
    if (argc == 1) {
        char* again[] = {argv[0], "limited", argv[0], 0};
        must(sys(__NR_setrlimit, 7, &limit) == 0, "setrlimit");
        sys(__NR_setresuid, 65534, 65534, 65534);  // from root: from here on the limit can't be raised
        sys(__NR_execve, argv[0], again, envp);
        return 98;
    }
    if (argc == 2) {
        put(argv[1]);
        put(" runs\n");
        return 0;
    }
    own_path = argv[2];
    environment = envp;
    run_children(0);
    run_children("close");
    fill();
    say("full", (u64)-sys(__NR_dup, 1));
    for (int fd = 3; fd < kLimit; ++fd) sys(__NR_dup2, 1, fd);
    say("beyond", (u64)-sys(__NR_dup2, 1, kLimit));
    flush();
    char* words[] = {"last", "last", 0};
    say("execve", (u64)-sys(__NR_execve, own_path, words, envp));
    return 1;
}
