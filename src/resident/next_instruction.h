// next_instruction.h: what a thread's next instruction is about to touch, for who samples it.
#pragma once

#include "engine/engine.h"

namespace anyperf::resident {

using engine::Thread;

/// All memory that the instruction at registers.rip is about to touch; nothing where it can't be read or decoded.
engine::x86_64::Accesses next_accesses(const Thread& thread);

/// The one address of it that a fault or a sample tells; 0: it touches none.
std::uint64_t address_of_next_access(const Thread& thread);

}  // namespace anyperf::resident
