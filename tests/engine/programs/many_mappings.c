// /proc/self/maps, smaps and numa_maps of a process with a thousand mappings: the lines of these are as natively.
#include "tiny.h"

enum { kPage = 4096, kPieces = 1000, kRoom = 4 << 20 };

static char* const kPlace = (char*)0x10000000000;
static char text[kRoom];

static long read_all(const char* path) {
    const long fd = sys(__NR_open, path, O_RDONLY, 0);
    long length = 0;
    long got = 0;
    do {
        got = sys(__NR_read, fd, text + length, 1000);
        length += got > 0 ? got : 0;
    } while (got > 0 && length + 1000 < kRoom);
    sys(__NR_close, fd);
    return length;
}

static u64 number_at(const char* at) {
    u64 value = 0;
    for (;; ++at) {
        if (*at >= '0' && *at <= '9')
            value = value * 16 + (u64)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            value = value * 16 + (u64)(*at - 'a' + 10);
        else
            return value;
    }
}

/// Whether the line begins with an address; details of a mapping begin with a capital letter.
static int is_address(char first) {
    return (first >= '0' && first <= '9') || (first >= 'a' && first <= 'f');
}

/// Shows the number of lines about the pieces, and a hash of their text.
static void show(const char* path) {
    const long length = read_all(path);
    u64 hash = 0xcbf29ce484222325;
    long lines = 0;
    int ours = 0;
    for (long at = 0; at < length; ++at) {
        if (at == 0 || text[at - 1] == '\n') {
            if (is_address(text[at])) {
                const u64 start = number_at(text + at);
                ours = start >= (u64)kPlace && start < (u64)kPlace + 2ul * kPage * kPieces;
            }
            lines += ours;
        }
        if (ours) hash = (hash ^ (unsigned char)text[at]) * 0x100000001b3;
    }
    put(path);
    say(" lines", (u64)lines);
    say("hash", hash);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    map(kPlace, 2ul * kPage * kPieces, PROT_READ | PROT_WRITE, MAP_FIXED);
    for (long i = 0; i < kPieces; ++i) {
        char* const piece = kPlace + 2 * i * kPage;
        if (i % 3 == 0) *piece = 1;
        if (i % 7 == 0) sys(__NR_madvise, piece, kPage, MADV_DONTDUMP);
        sys(__NR_mprotect, piece, kPage, i % 2 == 0 ? PROT_READ : PROT_NONE);
    }
    show("/proc/self/maps");
    show("/proc/self/smaps");
    show("/proc/self/numa_maps");
    return 0;
}
