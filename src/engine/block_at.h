// block_at.h: from an address of the application to its translation. Everything that reads the application's code does
// it here or below, so that code that can't be read, or that changes meanwhile, does no harm.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The translation of `pc`, made now where there is none; with a limit, one that ends after so many instructions.
/// `landing`: an indirect branch wants it. Null where there is no instruction to translate. Where the cache is full it
/// is emptied first: numbers of blocks and exits from before are void if Cache::generation has changed.
/// Precondition: the cache's lock is held, and Thread::inside is false.
Block* block_at(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0, bool landing = false);

/// The thread is about to enter the block. Precondition: the cache's lock is held.
void enter_at(Thread& thread, const Block& block);

/// The thread has left translated code and refers to nothing of the cache any more.
void stand_outside(Thread& thread);

}  // namespace anyperf::engine
