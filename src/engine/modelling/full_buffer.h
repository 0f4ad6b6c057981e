// full_buffer.h: a thread whose buffer of records is full feeds the models, and mostly goes on where it was.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// After an exit for the budget or for records. True: the models were fed, and rip and next_host are set. False: the
/// exit is to be handled as any other.
bool feed_full_buffer(Thread& thread);

}  // namespace anyperf::engine
