// Code whose memory gets other contents or goes away without a write and without a new mapping: by madvise(2),
// process_madvise(2), mremap(2) and fork(2).
#include "called_code.h"

#include <sys/uio.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)
#define PAGE 4096ul

/// A page of code that has run.
static unsigned char* code_that_has_run(unsigned value) {
    unsigned char* page = map(0, PAGE, RWX, 0);
    write_code(page, value);
    must(call(page) == value, "code runs");
    return page;
}

/// MADV_PAGEOUT makes the kernel take pages that are free for the taking.
static void freed(void) {
    unsigned char* page = code_that_has_run(1);
    say("free", (u64)sys(__NR_madvise, page, PAGE, MADV_FREE));
    call(page);
    sys(__NR_madvise, page, PAGE, 21);
    say("first byte", page[0]);
    say("after free", call(page));
}

static void by_process_madvise(void) {
    const long own = sys(__NR_pidfd_open, sys(__NR_getpid), 0);
    unsigned char* one = code_that_has_run(2);
    unsigned char* other = code_that_has_run(3);
    struct iovec ranges[] = {{one, PAGE}, {other, PAGE}};
    say("process_madvise", (u64)sys(__NR_process_madvise, own, ranges, 2, MADV_DONTNEED, 0));
    say("one", call(one));
    say("other", call(other));
    sys(__NR_close, own);
}

static void guarded(void) {
    unsigned char* page = code_that_has_run(4);
    say("guard", (u64)sys(__NR_madvise, page, PAGE, 102));
    say("while guarded", call(page));
    sys(__NR_madvise, page, PAGE, 103);
    say("after guard", call(page));
    write_code(page, 11);
    say("written after guard", call(page));
}

static void moved(void) {
    unsigned char* from = code_that_has_run(5);
    const long to = sys(__NR_mremap, from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
    must(to > 0, "mremap");
    say("moved", call((void*)to));
    say("left behind", call(from));
    write_code(from, 6);
    say("written again", call(from));
    write_code((unsigned char*)to, 10);
    say("written where it is now", call((void*)to));
}

/// An old size of 0 makes a second mapping of shared memory (mremap(2), BUGS).
static void doubled(void) {
    unsigned char* first = (unsigned char*)sys(__NR_mmap, 0, PAGE, RWX, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    write_code(first, 7);
    say("first", call(first));
    const long second = sys(__NR_mremap, first, 0, PAGE, MREMAP_MAYMOVE, 0);
    must(second > 0, "a second mapping");
    say("second", call((void*)second));
    write_code(first, 8);
    say("second", call((void*)second));
    sys(__NR_munmap, first, PAGE);
    say("first is gone", call(first));
    say("second", call((void*)second));
}

/// Whether a child of a fork has the page's code.
static void in_a_child(const char* name, int advice, u64 flags) {
    unsigned char* page = code_that_has_run(9);
    say(name, (u64)sys(__NR_madvise, page, PAGE, advice));
    flush();
    const long child = sys(__NR_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        say("child", call(page));
        exit_program(0);
    }
    wait_status(child);
    say("parent", call(page));
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    on_signal(SIGSEGV, on_fault, 0, 0);
    on_signal(SIGBUS, on_fault, 0, 0);
    on_signal(SIGILL, on_fault, 0, 0);
    freed();
    by_process_madvise();
    guarded();
    moved();
    doubled();
    in_a_child("wipe on fork", MADV_WIPEONFORK, 0);
    in_a_child("keep on fork", MADV_KEEPONFORK, 0);
    in_a_child("no fork", MADV_DONTFORK, 0);
    return 0;
}
