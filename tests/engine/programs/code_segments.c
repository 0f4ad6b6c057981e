// Code in System V segments (shmat(2) with SHM_EXEC): detached, replaced, attached twice, side by side, and after
// mprotect(2) has divided a segment.
#include "called_code.h"

#include <sys/ipc.h>
#include <sys/shm.h>

#define PAGE 4096ul

static char* const kPlace = (char*)0x10000000000;

/// A segment of so many pages that goes away with its last attachment.
static long segment(u64 pages) {
    const long id = sys(__NR_shmget, IPC_PRIVATE, pages * PAGE, 0700);
    must(id >= 0, "shmget");
    return id;
}

static char* attach(long id, char* place, long flags) {
    char* const at = (char*)sys(__NR_shmat, id, place, flags);
    must((long)at > 0, "shmat");
    return at;
}

static void forget(long id) {
    sys(__NR_shmctl, id, IPC_RMID, 0);
}

static void detached_and_replaced(void) {
    const long first = segment(1), second = segment(1);
    attach(first, kPlace, SHM_EXEC);
    write_code(kPlace, 1);
    say("runs", call(kPlace));
    say("detach", (u64)sys(__NR_shmdt, kPlace));
    say("detached", call(kPlace));
    say("detach again", (u64)-sys(__NR_shmdt, kPlace));
    attach(second, kPlace, SHM_EXEC);
    write_code(kPlace, 2);
    say("another", call(kPlace));
    attach(first, kPlace, SHM_EXEC | SHM_REMAP);
    say("remapped", call(kPlace));
    sys(__NR_shmdt, kPlace);
    attach(first, kPlace, 0);
    say("not executable", call(kPlace));
    sys(__NR_shmdt, kPlace);
    map(kPlace, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_FIXED);
    write_code(kPlace, 3);
    say("anonymous", call(kPlace));
    say("not a segment", (u64)-sys(__NR_shmdt, kPlace));
    say("still there", call(kPlace));
    sys(__NR_munmap, kPlace, PAGE);
    forget(first), forget(second);
}

static void attached_twice(void) {
    const long id = segment(1);
    char* const writable = attach(id, kPlace, 0);
    char* const code = attach(id, kPlace + 16 * PAGE, SHM_EXEC | SHM_RDONLY);
    for (int i = 0; i < 4; ++i) {
        write_code(writable, (unsigned)i + 16);
        say("by the other", call(code));
    }
    sys(__NR_shmdt, writable);
    say("without it", call(code));
    sys(__NR_shmdt, code);
    say("gone", call(code));
    forget(id);
}

static void side_by_side(void) {
    const long left = segment(2), right = segment(2);
    attach(left, kPlace, SHM_EXEC);
    attach(right, kPlace + 2 * PAGE, SHM_EXEC);
    for (int i = 0; i < 4; ++i) write_code(kPlace + (u64)i * PAGE, (unsigned)i + 32), call(kPlace + (u64)i * PAGE);
    sys(__NR_shmdt, kPlace);
    for (int i = 0; i < 4; ++i) say("right is left", call(kPlace + (u64)i * PAGE));
    sys(__NR_shmdt, kPlace + 2 * PAGE);
    for (int i = 0; i < 4; ++i) say("both gone", call(kPlace + (u64)i * PAGE));
    forget(left), forget(right);
}

/// `page` of a segment of four loses its right, before or after all four have run.
static void divided(u64 page) {
    const long id = segment(4);
    attach(id, kPlace, SHM_EXEC);
    for (u64 i = 0; i < 4; ++i) write_code(kPlace + i * PAGE, (unsigned)i + 48), call(kPlace + i * PAGE);
    sys(__NR_mprotect, kPlace + page * PAGE, PAGE, PROT_READ);
    for (u64 i = 0; i < 4; ++i) say("divided", call(kPlace + i * PAGE));
    sys(__NR_shmdt, kPlace);
    for (u64 i = 0; i < 4; ++i) say("detached", call(kPlace + i * PAGE));
    // Data without the right to be executed, where code was.
    map(kPlace, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_FIXED);
    for (u64 i = 0; i < 4; ++i) write_code(kPlace + i * PAGE, 64);
    for (u64 i = 0; i < 4; ++i) say("data", call(kPlace + i * PAGE));
    sys(__NR_munmap, kPlace, 4 * PAGE);
    forget(id);
}

int program(int argc, char** argv, char** envp) {
    (void)argc, (void)argv, (void)envp;
    on_signal(SIGSEGV, on_fault, 0, 0);
    detached_and_replaced();
    attached_twice();
    side_by_side();
    for (u64 page = 0; page < 4; ++page) divided(page);
    return 0;
}
