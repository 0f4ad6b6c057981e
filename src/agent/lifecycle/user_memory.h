// user_memory.h: the run memory of a process whose user has changed.
#pragma once

#include "engine/engine.h"

namespace anyperf::agent {

/// Asks the broker which run memory the process must have now, and replaces the one that it has by that. If the process
/// may not keep its memory and there is no other, it goes on with a memory that nobody shares: its threads count there,
/// and no event can count them. The process has one thread.
void change_user_memory(engine::Thread& thread);

}  // namespace anyperf::agent
