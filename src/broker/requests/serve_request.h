// serve_request.h: from a datagram to its answer: its caller, what it needs, its handler.
#pragma once

#include <optional>

#include "broker/requests/request_context.h"
#include "broker/transport/request_socket.h"

namespace anyperf::broker {

/// The thread that sent the request; nothing if the request's frame is malformed, if the process that has sent it (as
/// the kernel says) has ended or has no such thread, or if the page is another thread's. Only here is a sender's claim
/// read: all else uses the result.
std::optional<TaskId> caller_of(const ReceivedRequest& received, BrokerState& state);

/// Notes the caller's CPU, and runs the handler for the request's kind. `caller` is what caller_of() has returned. For
/// the presented machine `caller` is the calling task until RunHost::end_request().
RequestAnswer serve_request(BrokerState& state, const TaskId& caller, ReceivedRequest& received);

}  // namespace anyperf::broker
