// access_routines.h: generated routines that model an access which hits L1 and the first TLB.
//
// The problem: nearly all accesses hit, but one in eight does not hit the line that was touched last in its set, and
// one in three fetches does not. Which one is next cannot be predicted, so a branch on it costs more than the access.
//
// The mechanism: if the line is not the most recent one of its set, a routine finds it by the cache's hint
// (models/caches/cache.h), whichever way has it, and makes it so. It does the same with the page. It leaves to the
// model what is rare: an access over the end of a line, a miss, a line that the access may not change, and what the
// stride prefetcher may have to fetch. Where the cache is not of tree-PLRU, the routine looks for the most recent line
// only. To look for a line of any way at once, without the first comparison, costs more: the policy's bits of a set are
// then a chain through memory, which accesses to one set wait for (recursive calls 1.2 times the time, Python the
// same).
//
// The routines are shared by the code of all segments, so that this code is short: the CPU's own caches of code are
// what the code of a large program lacks first.
//
// A routine is called with rbx, the Core, and
//   rax  the first byte's address    rdx  the last byte's, except for fetches, which must not leave the line
//   rsi  of loads: the instruction's address    r13  of loads: its entry in StridePrefetcher::entries()
// It returns with the carry flag clear if the access hit. Then the models are as Core::hits_code() or hits_data() leave
// them, where nothing is to be prefetched. With the carry flag set and the zero flag clear nothing has changed. With
// both set, only Core::train() is left to do. rax, rsi and the registers from rbp on stay.
#pragma once

#include <cstdint>

namespace anyperf::models {
struct ShortPath;
}

namespace anyperf::engine {

class ReplayEmitter;

struct AccessRoutines {
    const std::uint8_t* fetch = nullptr;
    const std::uint8_t* load = nullptr;
    const std::uint8_t* store = nullptr;
    const std::uint8_t* modify = nullptr;  ///< load and store

    /// Writes the routines for machines with this geometry.
    static AccessRoutines write(ReplayEmitter& out, const models::ShortPath& path);
};

}  // namespace anyperf::engine
