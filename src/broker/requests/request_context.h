// request_context.h: what a handler of requests gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "broker/machine/presented_machine.h"
#include "broker/requests/request_answer.h"
#include "broker/state/broker_state.h"
#include "run/protocol.h"

namespace anyperf::broker {

/// One request. Its frame has been checked; its arguments have not.
struct RequestContext {
    BrokerState& state;
    /// The thread that asked. Handlers never read `page` and `tid` of the head, which are the sender's claim.
    TaskId caller;
    /// The kernel's ids of the same thread, for all questions to the kernel.
    KernelIds kernel;
    const run::RequestHead& head;
    std::span<const std::byte> payload;
    OwnedFd& descriptor;  ///< sent along, -1 for none; the handler may take it

    /// May be called only if the presented machine exists.
    subsystem::Subsystem& subsystem() const { return state.machine->subsystem; }
    /// The event that the request names, open or not.
    EventIndex event() const { return head.event; }
    std::uint64_t argument(std::size_t number) const { return head.argument[number]; }
};

/// The payload as text, up to its first NUL.
std::string_view text_of(const RequestContext& request);

}  // namespace anyperf::broker
