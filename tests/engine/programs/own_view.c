// What the program sees of its memory and of itself: the permissions that it asked for, also of code that has run, and
// openat2(2) with restrictions on how a path is resolved.
#include "tiny.h"

static char text[65536];

/// Prints the permissions of each mapping in [start, end).
static void permissions_in(u64 start, u64 end) {
    const long fd = sys(__NR_open, "/proc/self/maps", O_RDONLY, 0);
    u64 size = 0;
    for (long got; (got = sys(__NR_read, fd, text + size, sizeof text - 1 - size)) > 0;) size += (u64)got;
    text[size] = 0;
    sys(__NR_close, fd);
    for (char* line = text; *line;) {
        u64 from = 0, to = 0;
        char* at = line;
        for (; *at != '-'; ++at) from = from * 16 + (u64)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
        for (++at; *at != ' '; ++at) to = to * 16 + (u64)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
        char* const permissions = at + 1;
        while (*at != '\n') ++at;
        *at = 0;
        permissions[4] = 0;
        if (from >= start && to <= end) say(permissions, (to - from) >> 12);
        line = at + 1;
    }
}

static void open_with(const char* path, u64 resolve) {
    const struct {
        u64 flags, mode, resolve;
    } how = {O_RDONLY, 0, resolve};
    const long fd = sys(__NR_openat2, AT_FDCWD, path, &how, sizeof how);
    put(path);
    say(" openat2", fd >= 0 ? 0 : (u64)-fd);
    if (fd >= 0) sys(__NR_close, fd);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    char* const around = map(0, 16 * 4096, PROT_NONE, 0);
    char* const code = around + 4096;
    map(code, 8 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_FIXED);
    for (int i = 0; i < 8; i += 3) {
        code[i * 4096] = (char)0xc3;
        ((void (*)(void))(code + i * 4096))();
    }
    permissions_in((u64)around, (u64)around + 16 * 4096);
    sys(__NR_mprotect, code, 2 * 4096, PROT_WRITE | PROT_EXEC);
    sys(__NR_mprotect, code + 2 * 4096, 4096, PROT_EXEC);
    ((void (*)(void))code)();
    permissions_in((u64)around, (u64)around + 16 * 4096);
    for (u64 resolve = 0; resolve <= 16; resolve = resolve ? resolve * 2 : 1) {
        open_with("/proc/self/exe", resolve);
        open_with("/proc/self/maps", resolve);
        open_with("/sys/bus/event_source/devices/software/type", resolve);
    }
    return 0;
}
