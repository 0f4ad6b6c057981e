// submitted_requests.h: requests on an event that a program submits to the kernel instead of making a system call: by a
// ring of io_uring(7) or by io_submit(2).
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// io_uring_enter(2). False if no request that waits in a known ring is on an event.
bool enter_ring(engine::Call& call, long& answer);

/// io_submit(2). False if none of the requests is on an event.
bool submit_requests(engine::Call& call, long& answer);

}  // namespace anyperf::agent
