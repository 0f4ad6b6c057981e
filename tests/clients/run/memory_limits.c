// memory_limits.c: lets its memory grow in each way until the limits refuse, and prints how far it came.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

static const size_t kPiece = 64 * 1024;

static const char* error_name(void) {
    return errno == ENOMEM ? "ENOMEM" : errno == EAGAIN ? "EAGAIN" : "another error";
}

static void* map(size_t bytes, int protection, int flags) {
    return mmap(NULL, bytes, protection, flags | MAP_ANONYMOUS, -1, 0);
}

static void say_mapped(const char* what, int protection, int flags) {
    static void* pieces[4096];
    int count = 0;
    while (count < 4096 && (pieces[count] = map(kPiece, protection, flags)) != MAP_FAILED) ++count;
    printf("%s: %d pieces, then %s\n", what, count, count < 4096 ? error_name() : "no error");
    while (count > 0) munmap(pieces[--count], kPiece);
}

static void say_break(void) {
    char* const start = sbrk(0);
    int count = 0;
    while (count < 4096 && sbrk((intptr_t)kPiece) != (void*)-1) ++count;
    printf("brk: %d pieces\n", count);
    brk(start);
}

static void say_protected(void) {
    static void* pieces[4096];
    int count = 0;
    int failed = 0;
    while (count < 1024 && (pieces[count] = map(kPiece, PROT_READ, MAP_PRIVATE)) != MAP_FAILED) ++count;
    while (failed < count && mprotect(pieces[failed], kPiece, PROT_READ | PROT_WRITE) == 0) ++failed;
    printf("mprotect: %d of %d pieces\n", failed, count);
    while (count > 0) munmap(pieces[--count], kPiece);
}

static void say_remapped(int protection) {
    void* at = map(kPiece, protection, MAP_PRIVATE);
    size_t bytes = kPiece;
    void* more = at;
    while (bytes < 4096 * kPiece && (more = mremap(at, bytes, bytes + kPiece, MREMAP_MAYMOVE)) != MAP_FAILED)
        at = more, bytes += kPiece;
    printf("mremap: %zu pieces, then %s\n", bytes / kPiece, more == MAP_FAILED ? error_name() : "no error");
    munmap(at, bytes);
}

static void say_mapped_over(void) {
    const size_t half = 32 * kPiece;
    char* const at = map(half, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    if (at == MAP_FAILED) return;
    static void* pieces[4096];
    int count = 0;
    while (count < 4096 && (pieces[count] = map(kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE)) != MAP_FAILED) ++count;
    const void* over = mmap(at, half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("mapped over: %s\n", over == MAP_FAILED ? error_name() : "no error");
    munmap(at, half / 2);
    if (count > 0) munmap(pieces[--count], kPiece);
    over = mmap(at, half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("mapped over a half: %s\n", over == MAP_FAILED ? error_name() : "no error");
    while (count > 0) munmap(pieces[--count], kPiece);
    munmap(at, half);
}

static void say_attached(void) {
    const int id = shmget(IPC_PRIVATE, 16 * kPiece, IPC_CREAT | 0600);
    static void* pieces[4096];
    int count = 0;
    while (count < 256 && (pieces[count] = shmat(id, NULL, 0)) != (void*)-1) ++count;
    printf("shmat: %d pieces, then %s\n", count, count < 256 ? error_name() : "no error");
    while (count > 0) shmdt(pieces[--count]);
    shmctl(id, IPC_RMID, NULL);
}

static int use_stack(int kilobytes) {
    volatile char piece[1024];
    memset((char*)piece, kilobytes, sizeof piece);
    return kilobytes == 0 ? piece[0] : use_stack(kilobytes - 1) + piece[1] - piece[2];
}

int main(int argc, char** argv) {
    setvbuf(stdout, malloc(4096), _IOFBF, 4096);
    if (argc > 2) return use_stack(atoi(argv[2]));
    if (strcmp(argv[1], "wait") == 0) return pause();
    say_mapped("private", PROT_READ | PROT_WRITE, MAP_PRIVATE);
    say_mapped("without reserve", PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
    say_mapped("read-only", PROT_READ, MAP_PRIVATE);
    say_mapped("shared", PROT_READ | PROT_WRITE, MAP_SHARED);
    say_mapped("code", PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
    say_break();
    say_protected();
    say_remapped(PROT_READ | PROT_WRITE);
    say_remapped(PROT_READ);
    say_mapped_over();
    say_attached();
    return 0;
}
