// events.h: requests about events: what a program does with an event's descriptor and its ring. The subsystem checks
// the arguments as the kernel does.
#pragma once

#include "broker/requests/request_context.h"

namespace anyperf::broker {

/// The descriptor that comes with the request is the broker's end of the new event's socket pair. With an error the
/// payload is the attr.size that the kernel would write back (E2BIG), or 0.
RequestAnswer on_open(RequestContext& request);
RequestAnswer on_read(RequestContext& request);
RequestAnswer on_ioctl(RequestContext& request);
/// The program maps the ring itself, from the run's memory at the offset of the answer.
RequestAnswer on_map(RequestContext& request);
/// The program has unmapped the ring. Its mapping may have outlived the last descriptor of the event.
RequestAnswer on_unmap(RequestContext& request);
/// Finds the event of a descriptor by its inode, for a descriptor that the program has inherited or received. A thread
/// that has moved to another CPU also sends this request, only so that the move is noted (serve_request).
RequestAnswer on_identify(RequestContext& request);
/// The state for poll(2). Asking takes a wake-up away, as Subsystem::poll does.
RequestAnswer on_poll(RequestContext& request);
/// A thread has written so much into a ring that the ring's readers have to be woken.
RequestAnswer on_wake(RequestContext& request);
/// The event's REFRESH limit has reached 0, and its thread has disabled it. Not answered: the thread does not wait.
RequestAnswer on_ran_out(RequestContext& request);

}  // namespace anyperf::broker
