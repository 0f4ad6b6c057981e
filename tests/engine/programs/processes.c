// fork, vfork and execveat: private or shared memory, exit statuses, execve in the child, errors of execve.
#include "tiny.h"

static volatile int shared = 1;

static void forks(void) {
    for (int i = 0; i < 5; ++i) {
        const long child = sys(__NR_fork);
        if (child == 0) {
            shared += i;
            sys(__NR_exit_group, shared);
        }
        say("fork", (u64)wait_status(child));
    }
    say("untouched", (u64)shared);
}

long vfork_writes(volatile int* where, int value);
__asm__(
    ".text\n"
    "vfork_writes:\n mov $58,%eax\n syscall\n test %eax,%eax\n jnz 1f\n mov %esi,(%rdi)\n mov $60,%eax\n mov $9,%edi\n syscall\n ud2\n"
    "1: ret\n");

long vfork_exec(const char* file, char** arguments, char** environment, volatile int* failed);
__asm__(
    ".text\n"
    "vfork_exec:\n mov %rcx,%r8\n mov $58,%eax\n syscall\n test %eax,%eax\n jnz 1f\n mov $59,%eax\n syscall\n neg %eax\n mov %eax,(%r8)\n"
    " mov $60,%eax\n mov $127,%edi\n syscall\n ud2\n"
    "1: ret\n");

static void exec_errors(char** argv, char** envp) {
    char* arguments[] = {argv[0], 0};
    say("missing", (u64)-sys(__NR_execve, "/nowhere/at/all", arguments, envp));
    say("directory", (u64)-sys(__NR_execve, "/", arguments, envp));
    say("not a program", (u64)-sys(__NR_execve, "/proc/self/maps", arguments, envp));
    say("not a directory", (u64)-sys(__NR_execve, "/proc/self/maps/x", arguments, envp));
    say("bad name", (u64)-sys(__NR_execve, (char*)1, arguments, envp));
    say("bad arguments", (u64)-sys(__NR_execve, argv[0], (char**)1, envp));
    say("empty name", (u64)-sys(__NR_execve, "", arguments, envp));
}

int program(int argc, char** argv, char** envp) {
    if (argc > 1) {
        say("arguments", (u64)argc);
        put(argv[argc - 1]);
        put("\n");
        return argc * 10;
    }
    forks();
    const long child = vfork_writes(&shared, 42);
    say("vfork", (u64)wait_status(child));
    say("shared", (u64)shared);
    exec_errors(argv, envp);
    volatile int failed = 0;
    char* arguments[] = {argv[0], "one", "two words", 0};
    long run = vfork_exec("/nowhere", arguments, envp, &failed);
    say("status", (u64)wait_status(run));
    say("failed", (u64)failed);
    flush();
    run = vfork_exec(argv[0], arguments, envp, &failed);
    say("status", (u64)wait_status(run));
    const long pid = sys(__NR_getpid);
    flush();
    if (sys(__NR_fork) == 0) {
        say("parent", sys(__NR_getppid) == pid);
        flush();
        const long fd = sys(__NR_open, argv[0], O_RDONLY | O_CLOEXEC, 0);
        sys(__NR_execveat, fd, "", arguments, envp, 0x1000);
        exit_program(97);
    }
    say("status", (u64)wait_status(-1));
    return 0;
}
