// tiny_thread.h: threads by clone(2) for the bare programs.
#pragma once
#include "tiny.h"

enum { kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD };

/// Runs `run(argument)` in a new thread on the stack that ends at `top`. With CLONE_CHILD_CLEARTID in `flags`, the end
/// of the thread sets `cleared` to 0 and wakes it as a futex; with CLONE_SETTLS, `tls` is the thread's fs base. Returns
/// the tid, or -errno.
long start_thread(u64 flags, int (*run)(void*), void* argument, char* top, volatile int* cleared, void* tls);
__asm__(
    ".text\n"
    "start_thread:\n mov %rsi,-16(%rcx)\n mov %rdx,-8(%rcx)\n lea -16(%rcx),%rsi\n mov %r8,%r10\n mov %r9,%r8\n xor "
    "%edx,%edx\n mov $56,%eax\n"
    " syscall\n test %eax,%eax\n jz 1f\n ret\n"
    "1: pop %rax\n pop %rdi\n call *%rax\n mov %eax,%edi\n mov $60,%eax\n syscall\n ud2\n");

static inline void wait_cleared(volatile int* cleared) {
    do
        sys(__NR_futex, cleared, FUTEX_WAIT, 1,
            0);  // at least one futex call, so that the count does not depend on timing
    while (*cleared);
}
