// execve and execveat where the kernel looks at more than a path: O_PATH descriptors, every flag, files that are open
// for writing, scripts by descriptor, a FIFO, and a program without /proc: in a chroot and after pivot_root.
#include "tiny_thread.h"

#define AT_EMPTY_PATH_ 0x1000
#define AT_SYMLINK_NOFOLLOW_ 0x100
#define O_PATH_ 010000000

static char** environment;
static char content[65536];

/// The result of an exec in a child: its status, or 0x6300 + errno.
static void try_exec(const char* what, int at, const char* path, int flags) {
    char* words[] = {"child", "child", 0};
    flush();
    const long pid = sys(__NR_fork);
    if (pid == 0) sys(__NR_exit_group, 100 - sys(__NR_execveat, at, path, words, environment, flags));
    say(what, (u64)wait_status(pid));
}

static int read_only(int fd) {
    char path[] = "/proc/self/fd/00";
    path[14] = (char)('0' + fd / 10);
    path[15] = (char)('0' + fd % 10);
    return (int)sys(__NR_open, fd < 10 ? (path[14] = path[15], path[15] = 0, path) : path, O_RDONLY);
}

static void by_descriptor(const char* own) {
    const int path_only = (int)sys(__NR_open, own, O_PATH_);
    const int readable = (int)sys(__NR_open, own, O_RDONLY);
    try_exec("O_PATH", path_only, "", AT_EMPTY_PATH_);
    try_exec("readable", readable, "", AT_EMPTY_PATH_);
    try_exec("empty path", path_only, "", 0);
    try_exec("no descriptor", 77, "", AT_EMPTY_PATH_);
    try_exec("invalid flag", path_only, "", AT_EMPTY_PATH_ | 4);
    try_exec("link", AT_FDCWD, "/proc/self/exe", AT_SYMLINK_NOFOLLOW_);
    try_exec("directory", (int)sys(__NR_open, "/", O_PATH_), "", AT_EMPTY_PATH_);
    try_exec("not a directory", path_only, "x", 0);
    say("only checked", (u64)-sys(__NR_execveat, path_only, "", 0, 0, AT_EMPTY_PATH_ | 0x10000));
}

static void open_for_writing(const char* own) {
    const int in = (int)sys(__NR_open, own, O_RDONLY);
    const long bytes = sys(__NR_read, in, content, sizeof content);
    const int out = (int)sys(__NR_memfd_create, "program", 0);
    sys(__NR_write, out, content, bytes);
    try_exec("written", out, "", AT_EMPTY_PATH_);
    const int only_read = read_only(out);
    try_exec("writer left", only_read, "", AT_EMPTY_PATH_);
    sys(__NR_close, out);
    sys(__NR_fchmod, only_read, 0500);
    try_exec("closed", only_read, "", AT_EMPTY_PATH_);
}

static void scripts(void) {
    const int out = (int)sys(__NR_memfd_create, "script", 0);
    sys(__NR_write, out, "#!/bin/true\n", 12);
    const int script = read_only(out);
    sys(__NR_close, out);
    try_exec("script", script, "", AT_EMPTY_PATH_);
    sys(__NR_fcntl, script, F_SETFD, FD_CLOEXEC);
    try_exec("script that closes", script, "", AT_EMPTY_PATH_);
    sys(__NR_mknod, "exec_special.fifo", 010700, 0);
    try_exec("fifo", AT_FDCWD, "exec_special.fifo", 0);
    sys(__NR_unlink, "exec_special.fifo");
}

/// Where the program is: its directory, and its path in a root directory that is that directory.
static char directory[4096];
static char inside[4096] = "/";

static void find_place(const char* own) {
    const char* name = own;
    for (const char* at = own; *at; ++at)
        if (*at == '/') name = at + 1;
    for (size_t i = 0; own + i < name; ++i) directory[i] = own[i];
    if (name == own) directory[0] = '.';
    for (size_t i = 0; name[i]; ++i) inside[i + 1] = name[i];
}

static void exec_from_new_root(void) {
    try_exec("by path", AT_FDCWD, inside, 0);
    try_exec("no such file", AT_FDCWD, "/bin/true", 0);
}

static void in_chroot(void) {
    sys(__NR_unshare, 0x10000000);  // CLONE_NEWUSER: so that a user may chroot
    say("chroot", (u64)-sys(__NR_chroot, directory));
    exec_from_new_root();
}

/// In a child: its root directory is replaced, and the old one unmounted, as containers do.
static void after_pivot_root(void) {
    enum { kPrivate = 1 << 18, kBind = 1 << 12, kRecursive = 1 << 14, kDetach = 2 };
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        sys(__NR_unshare, 0x10020000);  // CLONE_NEWUSER, CLONE_NEWNS
        say("private", (u64)-sys(__NR_mount, 0, "/", 0, kPrivate | kRecursive, 0));
        say("bind", (u64)-sys(__NR_mount, directory, directory, 0, kBind | kRecursive, 0));
        say("chdir", (u64)-sys(__NR_chdir, directory));
        say("pivot_root", (u64)-sys(__NR_pivot_root, ".", "."));
        say("umount", (u64)-sys(__NR_umount2, ".", kDetach));
        exec_from_new_root();
        flush();
        sys(__NR_exit_group, 0);
    }
    say("pivoted", (u64)wait_status(child));
}

int program(int argc, char** argv, char** envp) {
    environment = envp;
    if (argc == 2) {
        put("runs\n");
        return 7;
    }
    by_descriptor(argv[0]);
    open_for_writing(argv[0]);
    scripts();
    find_place(argv[0]);
    after_pivot_root();
    in_chroot();
    return 0;
}
