// tasks.h: requests about the life of tasks.
//
// Requests from one thread arrive in the order in which it made them, because it waits for each answer. Requests of
// different threads, and reports of the kernel (pidfds, closed sockets), may arrive in any order. That matters in three
// places:
//
//   A new child.  before_clone announces the child with its thread page and returns a number. Then the parent reports
//       the id (cloned), the child reports itself (begin), and a third process may already know the id and open an
//       event on it; these three may come in any order. Each of them registers the child if that has not happened, so
//       the subsystem learns of it exactly once, and before any of the three goes on. clone_failed withdraws the
//       number.
//   An exec.  executed comes from the new program. The kernel stops it for a tracer earlier, at the end of the execve,
//       and the tracer expects that the events have their state after the exec. So for a traced process the exec is
//       reported before the call (executing), and executed is skipped then.
//   A death.  end is sent by a thread that ends by itself. A killed process sends nothing: its pidfd reports its death.
//       Before the parent waits for such a child, it asks the broker to handle the death (reaping), because the run
//       times in /proc disappear with the zombie.
#pragma once

#include "broker/requests/request_context.h"

namespace anyperf::broker {

RequestAnswer on_before_clone(RequestContext& request);
RequestAnswer on_clone_failed(RequestContext& request);
/// The parent waits for the answer: the child's inherited events must not see what the parent does after the clone.
RequestAnswer on_cloned(RequestContext& request);
/// Sent by a new thread or process before its first instruction of the application.
RequestAnswer on_begin(RequestContext& request);
RequestAnswer on_executing(RequestContext& request);
RequestAnswer on_executed(RequestContext& request);
RequestAnswer on_end(RequestContext& request);
RequestAnswer on_reaping(RequestContext& request);
/// prctl(2) with PR_TASK_PERF_EVENTS_ENABLE or _DISABLE, for the events that the thread has opened, and for those of
/// the run's host if it wants that (RunHeader::programs_switch).
RequestAnswer on_switch_events(RequestContext& request);

}  // namespace anyperf::broker
