// mailbox.h: the one place that writes answers. The mailbox of a thread is in shared memory (run/protocol.h).
#pragma once

#include "broker/requests/request_answer.h"
#include "run/protocol.h"

namespace anyperf::broker {

/// Writes the answer to the request with this head and wakes the thread that waits for it. The payload is cut to the
/// size of the mailbox. Returns the CPU on which the answer was written.
int write_answer(run::Mailbox& mailbox, const run::RequestHead& head, const RequestAnswer& answer);

}  // namespace anyperf::broker
