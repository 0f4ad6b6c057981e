#include "engine/syscalls/submission_queues.h"

#include <algorithm>
#include <cstddef>

#include "engine/own_descriptors.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

// Names and layouts of linux/io_uring.h as of Linux 6.18; older headers have less.
constexpr std::uint32_t kWideRequests = 1u << 10;        // IORING_SETUP_SQE128
constexpr std::uint32_t kProgramsMemory = 1u << 14;      // IORING_SETUP_NO_MMAP
constexpr std::uint32_t kWithoutArray = 1u << 16;        // IORING_SETUP_NO_SQARRAY
constexpr std::uint8_t kClose = 19;                      // IORING_OP_CLOSE
constexpr std::uint64_t kOffsetOfRing = 0;               // IORING_OFF_SQ_RING
constexpr std::uint64_t kOffsetOfRequests = 0x10000000;  // IORING_OFF_SQES

/// struct io_sqring_offsets; io_cqring_offsets has the address at the same place.
struct RingOffsets {
    std::uint32_t head, tail, mask, entries, flags, dropped, array, reserved;
    std::uint64_t address;  ///< with kProgramsMemory
};
static_assert(sizeof(RingOffsets) == 40);

/// struct io_uring_params.
struct RingParameters {
    std::uint32_t entries, completions, flags, others[7];
    RingOffsets submissions, of_completions;
};
static_assert(sizeof(RingParameters) == 120);

/// A known ring. Offsets are in `memory`.
struct Queue {
    std::int32_t ring = -1;
    std::uint32_t entries = 0;
    std::uint32_t flags = 0;
    std::uint32_t head = 0, tail = 0, mask = 0, array = 0;
    std::uint64_t memory = 0;    ///< where the program has mapped the ring; 0: nowhere
    std::uint64_t requests = 0;  ///< where it has mapped the requests
};

/// The known rings of the process. It is memory of the process, as its descriptors are: a fork's child has a copy. Two
/// threads may change it at the same time: then a ring may be unknown.
struct Queues {
    static constexpr std::uint32_t kMost = 8;
    Queue of[kMost];
    std::uint32_t made;  ///< how many were noted
};

constinit Queues queues{};

template <class Value>
bool read(std::uint64_t place, Value& out) {
    return x86_64::guarded_copy(&out, at_address<void>(place), sizeof out);
}

/// Changes the request if it closes a descriptor of the engine's.
void check_request(const Engine& engine, std::uint64_t place) {
    RingRequest request;
    if (!read(place, request) || request.operation != kClose || request.second != 0) return;
    if (!is_engine_descriptor(engine, static_cast<std::uint32_t>(request.fd))) return;
    const std::int32_t none = -1;
    x86_64::guarded_copy(at_address<void>(place + offsetof(RingRequest, fd)), &none, sizeof none);
}

/// Calls `visit` with the address of each request between the head and the tail of the ring.
template <class Visit>
void visit_queue(const Queue& queue, Visit visit) {
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    std::uint32_t mask = 0;
    if (queue.memory == 0 || queue.requests == 0 || !read(queue.memory + queue.head, head) ||
        !read(queue.memory + queue.tail, tail) || !read(queue.memory + queue.mask, mask))
        return;
    const std::uint64_t bytes = sizeof(RingRequest) * ((queue.flags & kWideRequests) != 0 ? 2 : 1);
    const std::uint32_t waiting = std::min(tail - head, queue.entries);
    for (std::uint32_t i = 0; i < waiting; ++i) {
        std::uint32_t index = (head + i) & mask;
        if ((queue.flags & kWithoutArray) == 0 &&
            !read(queue.memory + queue.array + std::uint64_t{index} * sizeof index, index))
            return;
        if (index < queue.entries) visit(queue.requests + index * bytes);
    }
}

}  // namespace

void note_submission_queue(std::int32_t ring, std::uint64_t place) {
    RingParameters made;
    if (!read(place, made)) return;
    Queue& queue = queues.of[__atomic_fetch_add(&queues.made, 1, __ATOMIC_RELAXED) % Queues::kMost];
    queue = {.ring = ring,
             .entries = made.entries,
             .flags = made.flags,
             .head = made.submissions.head,
             .tail = made.submissions.tail,
             .mask = made.submissions.mask,
             .array = made.submissions.array};
    if ((made.flags & kProgramsMemory) == 0) return;
    queue.requests = made.submissions.address;
    queue.memory = made.of_completions.address;
}

void note_mapped_queue(std::uint64_t fd, std::uint64_t offset, std::uint64_t start) {
    if (queues.made == 0) return;
    const auto ring = static_cast<std::int32_t>(fd);
    for (Queue& queue : queues.of) {
        if (queue.ring != ring || ring < 0) continue;
        if (offset == kOffsetOfRing) queue.memory = start;
        if (offset == kOffsetOfRequests) queue.requests = start;
    }
}

void drop_closes_of_own_descriptors(const Engine& engine) {
    for (const Queue& queue : queues.of) visit_queue(queue, [&](std::uint64_t place) { check_request(engine, place); });
}

void visit_waiting_requests(void (*visit)(void* context, std::uint64_t place), void* context) {
    if (queues.made == 0) return;
    for (const Queue& queue : queues.of) visit_queue(queue, [=](std::uint64_t place) { visit(context, place); });
}

namespace handlers {

long io_uring_enter(Call& call) {
    drop_closes_of_own_descriptors(call.engine);
    return call.pass_to_kernel();
}

}  // namespace handlers

}  // namespace anyperf::engine
