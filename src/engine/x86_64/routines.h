// routines.h: the few pieces of code between the application's registers and the engine's C++, written by the emitter
// once at start: `enter` goes to Thread::next_host with the application's registers, the leaves come back from there
// and call Thread::dispatch on the engine's stack.
#pragma once

#include <cstdint>

#include "engine/cache/arena.h"
#include "engine/x86_64/thread.h"

namespace anyperf::engine::x86_64 {

struct Routines {
    std::uint64_t start = 0;
    std::uint64_t enter = 0;
    std::uint64_t enter_end = 0;  ///< a signal in [enter, enter_end) finds all registers still in the thread, too
    std::uint64_t probe =
        0;  ///< like enter, to the application's own rip with the trap flag: runs one instruction there
    std::uint64_t probe_end = 0;
    std::uint64_t leave[kLeaves] = {};
    std::uint64_t end = 0;
};

/// Writes the routines into an arena's cold part. False where they don't fit.
bool emit_routines(Arena& arena, Routines& out);

/// Each arena's cold part begins with a jump to every leave, which its stubs reach by a displacement.
void emit_ways_out(Arena& arena);
const std::uint8_t* way_out_of(const Arena& arena, Leave reason);

/// Gives a new thread what its translated code needs of the routines.
void connect(Thread& thread, const Routines& routines, void (*dispatch)(Thread&), void (*deliver)(Thread&));

}  // namespace anyperf::engine::x86_64
