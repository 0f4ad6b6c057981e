// access_routines.h: generated routines that model an access which hits L1 and the first TLB.
//
// The problem: nearly all accesses hit, but one in eight does not hit the line that was touched last in its set, and
// one in three fetches does not. Which one is next cannot be predicted, so a branch on it costs more than the access.
//
// The mechanism: a routine finds a line that is not the most recent one of its set by the cache's hint
// (models/caches/cache.h), whichever way has it, and makes it so. In a cache of LRU it compares the ways in their
// order. It does the same with the page. It calls the model for what is rare: an access over the end of a line, a miss,
// a line that the access may not change, and the first access to a line that a prefetch has brought. Where the cache is
// of neither kind, or has the rules of cachegrind, the routine looks for the most recent line only.
//
// The routines are shared by the code of all segments, so that this code is short: the CPU's own caches of code are
// what the code of a large program lacks first.
//
// A routine is called with the registers of replay_code.h and
//   rax  the first byte's address    rdx  the last byte's, except for fetches, which must not leave the line
//   rsi  the RecordedAccess
// It keeps rsi and the registers from rbp on. The models are then as after Core::access() or Core::fetch(). Counts are
// as if the access repeats, which the caller counts. The zero flag is clear if L1I has lost a line by other means than
// a fetch. Otherwise a fetch sets the carry flag if the model has done it, with all lines of the instruction.
#pragma once

#include <cstdint>

namespace anyperf::engine {

struct AccessRoutines {
    const std::uint8_t* fetch = nullptr;
    const std::uint8_t* load = nullptr;
    const std::uint8_t* store = nullptr;
    const std::uint8_t* modify = nullptr;  ///< load and store
    const std::uint8_t* other = nullptr;   ///< any access; reads no address, and nothing is to be counted
    // These make the line in rdx, which lies in the set rdi, the most recent one, for a load, a store and a fetch. If
    // that is not all that is to be done they change nothing, and set the carry flag. They keep rax. Null if the cache
    // has no hints.
    const std::uint8_t* older_load = nullptr;
    const std::uint8_t* older_store = nullptr;
    const std::uint8_t* older_code = nullptr;
    const std::uint8_t* data_pages = nullptr;  ///< makes the page in r10 the most recent one; else sets the carry flag
    const std::uint8_t* finish = nullptr;  ///< the rest of the segment after the access in rsi; its flags mean nothing
};

}  // namespace anyperf::engine
