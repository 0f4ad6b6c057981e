// block_at.h: finds or makes the translation of an address of the application. All reads of the application's code for
// translation happen here, under guarded_run(). So code that can't be read ends the translation and not the process.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// How a thread comes to a block.
enum class Arrival : std::uint8_t {
    other,
    backward,  ///< by a direct branch that goes back, or forward into its own block: the block may begin a loop
    step,      ///< by a direct branch that makes a step (turns/turn_length.h): it goes back
    indirect,  ///< by an indirect branch: a new block gets an indirect entry
};

/// The translation of `pc`, made now if it does not exist. `limit`: Block::limit. Null if there is no instruction at
/// `pc` that the engine can run. A full cache is flushed first: then Cache::generation has changed, and earlier numbers
/// of blocks and exits are invalid. Precondition: the cache's lock is held, and Thread::in_cache is false.
Block* block_at(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0, Arrival arrival = Arrival::other);

/// Waits until the instruction at `pc` can be read, if another thread may have to fill its page (userfaultfd(2)): that
/// thread may need the cache's lock, which block_at() would hold while it waits. Called before the lock is taken. From
/// then on a block ends with the page of its first instruction.
void wait_for_code(const Engine& engine, std::uint64_t pc);

/// Makes `block` the one that the thread enters next; from here on a flush waits for the thread.
/// Precondition: the cache's lock is held.
void set_next_block(Thread& thread, const Block& block);

/// The thread has left translated code and uses no pointer into the cache any more: a flush need not wait for it.
void exit_cache(Thread& thread);

}  // namespace anyperf::engine
