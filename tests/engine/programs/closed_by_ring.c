// Requests of io_uring(7) that close every number of a descriptor: those that the program does not have are EBADF, and
// it can still execute a program.
#include <linux/io_uring.h>

#include "tiny.h"

enum { kEntries = 4, kLast = 4200, kOwn = 700 };

static struct io_uring_params made;
static char *queue, *answers;
static struct io_uring_sqe* requests;
static long ring;

static unsigned* word_at(char* memory, unsigned offset) {
    return (unsigned*)(memory + offset);
}

/// Submits `count` requests to close the numbers from `fd` on, and counts those that the kernel has done. Every other
/// answer has to be EBADF.
static int close_by_ring(int fd, unsigned count) {
    const unsigned mask = *word_at(queue, made.sq_off.ring_mask);
    unsigned tail = *word_at(queue, made.sq_off.tail);
    for (unsigned i = 0; i < count; ++i, ++tail) {
        struct io_uring_sqe* request = &requests[tail & mask];
        memset(request, 0, sizeof *request);
        request->opcode = IORING_OP_CLOSE;
        request->fd = fd + (int)i;
        word_at(queue, made.sq_off.array)[tail & mask] = tail & mask;
    }
    __atomic_store_n(word_at(queue, made.sq_off.tail), tail, __ATOMIC_RELEASE);
    must(sys(__NR_io_uring_enter, ring, count, count, IORING_ENTER_GETEVENTS, 0, 0) == count, "all are submitted");
    int done = 0;
    unsigned head = *word_at(answers, made.cq_off.head);
    for (unsigned i = 0; i < count; ++i, ++head) {
        const unsigned place = head & *word_at(answers, made.cq_off.ring_mask);
        const int answer = ((struct io_uring_cqe*)(answers + made.cq_off.cqes))[place].res;
        must(answer == 0 || answer == -EBADF, "done or EBADF");
        done += answer == 0;
    }
    __atomic_store_n(word_at(answers, made.cq_off.head), head, __ATOMIC_RELEASE);
    return done;
}

static void* map_ring(u64 bytes, u64 offset) {
    void* const at = (void*)sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset);
    must((long)at > 0, "mmap of the ring");
    return at;
}

int program(int argc, char** argv, char** envp) {
    if (argc > 1) return 7;
    sys(__NR_close_range, 3, ~0u, 0);
    for (int fd = kOwn; fd < kOwn + 3; ++fd) sys(__NR_dup2, 1, fd);
    ring = sys(__NR_io_uring_setup, kEntries, &made);
    if (ring < 0) return 0;  // the kernel, or its settings, permit no ring
    queue = map_ring(made.sq_off.array + made.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    answers = map_ring(made.cq_off.cqes + made.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    requests = map_ring(made.sq_entries * sizeof *requests, IORING_OFF_SQES);
    int done = 0;
    for (int fd = (int)ring + 1; fd < kLast; fd += kEntries) done += close_by_ring(fd, kEntries);
    say("closed", (u64)done);
    say("own is closed", (u64)-sys(__NR_fcntl, kOwn, F_GETFD));
    char* arguments[] = {argv[0], (char*)"again", 0};
    flush();
    const long child = sys(__NR_fork);
    if (child == 0) {
        sys(__NR_execve, argv[0], arguments, envp);
        sys(__NR_exit_group, 9);
    }
    say("executed", (u64)wait_status(child));
    return 0;
}
