// The program's own files in /proc show its mappings and descriptors, and none of the engine's.
#include "tiny.h"

static char text[262144];

static u64 read_all(const char* path) {
    const long fd = sys(__NR_open, path, O_RDONLY, 0);
    must(fd >= 0, path);
    u64 size = 0;
    for (long got; (got = sys(__NR_read, fd, text + size, sizeof text - 1 - size)) > 0;) size += (u64)got;
    text[size] = 0;
    say("can be written", sys(__NR_write, fd, text, 1) >= 0);
    sys(__NR_close, fd);
    return size;
}

static u64 occurrences(const char* word) {
    u64 count = 0;
    for (const char* at = text; *at; ++at) {
        const char *a = at, *b = word;
        while (*b && *a == *b) ++a, ++b;
        count += *b == 0;
    }
    return count;
}

/// Prints the entries of a directory.
static void list(const char* path) {
    const long fd = sys(__NR_open, path, O_RDONLY | O_DIRECTORY, 0);
    must(fd >= 0, path);
    for (long got; (got = sys(__NR_getdents64, fd, text, 64)) > 0;)
        for (long at = 0; at < got; at += *(unsigned short*)(text + at + 16)) put(text + at + 19), put(" ");
    put("\n");
    sys(__NR_close, fd);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    struct stat status;
    must(read_all("/proc/self/maps") > 0, "maps");
    say("maps: anyperf", occurrences("anyperf"));
    say("maps: stack", occurrences("[stack]"));
    say("maps: written and executed", occurrences("rwx"));
    must(read_all("/proc/self/smaps") > 0, "smaps");
    say("smaps: anyperf", occurrences("anyperf"));
    for (int fd = 3; fd < 900; ++fd) sys(__NR_close, fd);
    list("/proc/self/fd");
    list("/proc/thread-self/fdinfo");
    say("lstat", (u64)sys(__NR_lstat, "/proc/self/exe", &status));
    say("mode", status.st_mode & S_IFMT);
    say("newfstatat", (u64)sys(__NR_newfstatat, AT_FDCWD, "/proc/self/exe", &status, AT_SYMLINK_NOFOLLOW));
    say("mode", status.st_mode & S_IFMT);
    say("no such descriptor", (u64)-sys(__NR_lstat, "/proc/self/fd/1000", &status));
    return 0;
}
