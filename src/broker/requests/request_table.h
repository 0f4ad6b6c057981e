// request_table.h: a row with the handler for each kind of request. run/protocol.h has the arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "broker/requests/request_context.h"

namespace anyperf::broker {

/// What must hold before a handler is called.
enum class Needs : std::uint8_t {
    nothing,
    open_event,      ///< the event of the request is open. If not, the answer is EBADF
    machine,         ///< the presented machine exists, so an event has been opened. If not, the answer is 0
    making_machine,  ///< the presented machine, which is made if it does not exist
};

struct RequestRow {
    run::RequestKind kind = run::RequestKind::count;
    std::string_view name;  ///< as in RequestKind
    RequestAnswer (*handler)(RequestContext& request);
    Needs needs = Needs::nothing;
};

/// In the order of RequestKind.
extern const std::array<RequestRow, static_cast<std::size_t>(run::RequestKind::count)> kRequests;

}  // namespace anyperf::broker
