// vfork children that overwrite every descriptor number before execve: the parent's descriptors must not change.
#include "tiny_thread.h"

static char stack[16384] __attribute__((aligned(16)));
static char** environment;

static int child(void* unused) {
    char* words[] = {"child", 0};
    for (int number = 3; number < 1100; ++number) sys(__NR_dup2, 1, number);
    sys(__NR_execve, "/proc/self/exe", words, environment);
    return 9;
}

int program(int argc, char** argv, char** envp) {
    environment = envp;
    if (argc == 1 && argv[0][0] != 'c' && argv[0][0] != 'e') {
        for (int i = 0; i < 3; ++i) {
            const long pid = start_thread(CLONE_VM | CLONE_VFORK | SIGCHLD, child, 0, stack + sizeof stack, 0, 0);
            say("status", (u64)wait_status(pid));
            flush();
        }
        char* words[] = {"end", 0};
        sys(__NR_execve, "/proc/self/exe", words, envp);
    }
    put(argv[0]);
    put(" runs\n");
    return 0;
}
