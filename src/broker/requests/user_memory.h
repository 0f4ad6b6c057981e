// user_memory.h: which run memory a program may use, and what programs of different users do for each other.
#pragma once

#include "broker/requests/request_answer.h"
#include "broker/requests/request_context.h"

namespace anyperf::broker {

/// The ids of the sender's process have changed: answers by its socket which run memory it has from now on.
RequestAnswer on_change_user(RequestContext& request);
/// Writes a record of the sender's event to a ring that the sender cannot write itself.
RequestAnswer on_write_record(RequestContext& request);

}  // namespace anyperf::broker
