// madvise over ranges that go on beyond a mapping, where in a run memory of the engine is: the error is that of the
// first mapping, or of what is not mapped after the advice was taken for the rest.
#include <sys/mman.h>

#include "tiny.h"

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    enum { kPage = 4096 };
    const u64 far = 2ul << 30;
    char* const shared = (char*)sys(__NR_mmap, 0, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    say("an address within a page", (u64)-sys(__NR_madvise, shared + 100, far, MADV_NORMAL));
    say("no advice", (u64)-sys(__NR_madvise, shared, far, 1212));
    say("shared memory", (u64)-sys(__NR_madvise, shared, far, MADV_WIPEONFORK));
    say("a hole", (u64)-sys(__NR_madvise, shared, far, MADV_NORMAL));
    say("nothing", (u64)-sys(__NR_madvise, shared, 0, MADV_NORMAL));
    say("beyond the last address", (u64)-sys(__NR_madvise, shared, -(u64)kPage, MADV_NORMAL));
    char* const private = map(0, 4 * kPage, PROT_READ | PROT_WRITE, 0);
    private[0] = private[3 * kPage] = 7;
    sys(__NR_munmap, private + kPage, kPage);
    say("parts around a hole", (u64)-sys(__NR_madvise, private, 4 * kPage, MADV_DONTNEED));
    say("before", (u64)private[0]);
    say("after", (u64)private[3 * kPage]);
    return 0;
}
