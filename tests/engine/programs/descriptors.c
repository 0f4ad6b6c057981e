// Closes every descriptor, overwrites all of them by dup2, and counts the open ones.
#include "tiny.h"

static u64 open_count(void) {
    u64 count = 0;
    for (int fd = 0; fd < 256; ++fd) count += sys(__NR_fcntl, fd, F_GETFD, 0) >= 0;
    return count;
}

/// Counts the descriptors that several system calls accept, also above RLIMIT_NOFILE.
static void say_seen(void) {
    char stat[256];
    u64 seen[5] = {0};
    for (int fd = 3; fd < 4096; ++fd) {
        seen[0] += sys(__NR_fstat, fd, stat) >= 0;
        seen[1] += sys(__NR_newfstatat, fd, "", stat, 0x1000) >= 0;  // AT_EMPTY_PATH
        seen[2] += sys(__NR_lseek, fd, 0, 1) != -9;                  // EBADF
        seen[3] += sys(__NR_ioctl, fd, 0x5451) >= 0;                 // FIOCLEX
        seen[4] += sys(__NR_newfstatat, fd, "/", stat, 0) >= 0;      // an absolute path needs no descriptor
    }
    for (int i = 0; i < 5; ++i) say("seen", seen[i]);
}

int program(int argc, char** argv, char** envp) {
    struct { u64 now, most; } limit = {256, 256};
    sys(__NR_setrlimit, 7, &limit);
    if (argc > 1) {
        say("open after execve", open_count());
        say_seen();
        return 0;
    }
    for (int fd = 3; fd < 256; ++fd) sys(__NR_close, fd);
    say("open", open_count());
    say_seen();
    say("next", (u64)sys(__NR_dup, 1));
    for (int fd = 3; fd < 256; ++fd) must(sys(__NR_dup2, 1, fd) == fd, "dup2");
    say("full", (u64)-sys(__NR_dup, 1));
    const long child = sys(__NR_fork);
    if (child == 0) sys(__NR_exit_group, 11);
    say("fork", (u64)wait_status(child));
    say("close_range", (u64)sys(__NR_close_range, 3, ~0u, 0));
    say("open", open_count());
    flush();
    char* arguments[] = {argv[0], "again", 0};
    sys(__NR_execve, argv[0], arguments, envp);
    return 99;
}
