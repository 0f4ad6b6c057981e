// block_at.h: from an address of the application to its translation. All engine code that reads the application's code
// to translate it runs in here under guarded_run(), so that code which can't be read, or which changes while it is
// read, ends the translation instead of the process.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The translation of `pc`, made now if it does not exist. With `limit` it ends after so many instructions (or is
/// kSingleInstruction). `indirect`: an indirect branch asks for it, so a new one gets an indirect entry. Null if there
/// is no instruction at `pc` that the engine can run. A full cache is flushed first: then Cache::generation has changed
/// and numbers of blocks and exits from before are invalid. Precondition: the cache's lock is held, and
/// Thread::in_cache is false.
Block* block_at(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0, bool indirect = false);

/// Makes `block` the one that the thread enters next; from here on a flush waits for the thread.
/// Precondition: the cache's lock is held.
void set_next_block(Thread& thread, const Block& block);

/// The thread has left translated code and refers to nothing of the cache any more: a flush need not wait for it.
void exit_cache(Thread& thread);

}  // namespace anyperf::engine
