// recover.h: from a place in translated code to the application's registers at an instruction.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/x86_64/thread.h"

namespace anyperf::engine::x86_64 {

/// A place in a block, in the application's terms.
struct Place {
    Block* block = nullptr;
    std::size_t index = 0;  ///< of the instruction; block->instructions for behind the last
    std::uint64_t pc = 0;   ///< of that instruction
    bool exact = false;     ///< the host stands at its first byte, so nothing of it is done
    bool counted = false;   ///< the block's prologue has run
};

/// The place of a host address in `block`.
Place locate(Block& block, std::uint64_t host);

/// Gives `registers` - the host's at that place, in the middle of an instruction that has faulted - the application's
/// values of what the translation has borrowed.
void give_back_spilled(const Thread& thread, const Place& place, Registers& registers);

/// Takes back what the block has counted for the instructions from `place` on.
void uncount_rest(Thread& thread, const Place& place);

/// The same for a place that is given by the application's address in the block, which has begun.
void uncount_from(Thread& thread, Block& block, std::uint64_t pc);

/// Counts the instruction at `pc`, which has run outside of any block.
void count_one(Thread& thread, std::uint64_t pc, std::uint32_t open_classes);

}  // namespace anyperf::engine::x86_64
