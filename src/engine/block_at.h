// block_at.h: finds or makes the translation of an address of the application. All engine code that reads the
// application's code in order to translate it is called from here, under guarded_run(). So code that can't be read, or
// that changes while it is read, ends the translation and not the process.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The translation of `pc`, made now if it does not exist. `limit`: that of the block (Block::limit). `indirect`: an
/// indirect branch asks for it, so a new block gets an indirect entry. Null if there is no instruction at `pc` that the
/// engine can run. A full cache is flushed first: then Cache::generation has changed, and numbers of blocks and exits
/// from before are invalid. Precondition: the cache's lock is held, and Thread::in_cache is false.
Block* block_at(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0, bool indirect = false);

/// Makes `block` the one that the thread enters next; from here on a flush waits for the thread.
/// Precondition: the cache's lock is held.
void set_next_block(Thread& thread, const Block& block);

/// The thread has left translated code and refers to nothing of the cache any more: a flush need not wait for it.
void exit_cache(Thread& thread);

}  // namespace anyperf::engine
