// submission_queues.h: rings of io_uring(7), by which a program has the kernel use descriptors without a system call
// that names them. The engine's own descriptors have to stay open, as for close(2), and the agent answers requests on
// events (agent/syscalls/submitted_requests.h).
//
// The engine knows where the program has mapped the requests of its rings. Before io_uring_enter(2) it looks through
// those that are about to be submitted: one that would close a descriptor of the engine's gets the number -1, so that
// the program gets the EBADF of a descriptor that does not exist.
//
// LIMITS: a ring with a thread of the kernel (IORING_SETUP_SQPOLL) takes requests without a system call. Rings that
// another process has made are not known. Of a process with more than eight rings the latest ones are known.
#pragma once

#include <cstdint>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// struct io_uring_sqe (linux/io_uring.h of Linux 6.18).
struct RingRequest {
    std::uint8_t operation, flags;
    std::uint16_t priority;
    std::int32_t fd;
    std::uint64_t offset;
    std::uint64_t address;
    std::uint32_t length;
    std::uint32_t operation_flags;  ///< of a poll: what it waits for
    std::uint64_t user_data;
    std::uint16_t buffer, personality;
    std::int32_t second;  ///< a second descriptor; of a close: not 0 if a registered file is closed instead of `fd`
    std::uint64_t rest[2];
};
static_assert(sizeof(RingRequest) == 64);

/// Notes the ring that io_uring_setup(2) has made; `place` is the program's io_uring_params.
void note_submission_queue(std::int32_t ring, std::uint64_t place);

/// Notes a mapping of a file, which may be a known ring's.
void note_mapped_queue(std::uint64_t fd, std::uint64_t offset, std::uint64_t start);

/// Calls `visit` with the address of each request that waits in a known ring.
void visit_waiting_requests(void (*visit)(void* context, std::uint64_t place), void* context);

/// Takes requests to close the engine's descriptors out of all known rings.
void drop_closes_of_own_descriptors(const Engine& engine);

}  // namespace anyperf::engine
