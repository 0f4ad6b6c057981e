// next_instruction.h: which memory a thread's next instruction is about to access, from its code and registers. An
// overflow is handled after the instruction that caused it, when its registers may have changed; so call this before
// the instruction runs.
#pragma once

#include "engine/engine.h"
#include "engine/x86_64/decode/effective_address.h"

namespace anyperf::agent {

using engine::Thread;

struct NextAccesses {
    engine::x86_64::Accesses all;
    bool atomic = false;
};

/// All memory that the instruction at registers.rip is about to access; empty where it cannot be read or decoded.
NextAccesses next_accesses(const Thread& thread);

}  // namespace anyperf::agent
