// access_routines.h: generated routines that model an access which segment_code.h has not found to hit.
//
// The accesses of a group are looked up together. If that fails, most of them still hit L1 and the first TLB, so a
// routine looks up one access. It calls the model for what is rare: an access over the end of a line, a miss, a line
// that the access may not change, and the first access to a line that a prefetch has brought.
//
// The routines are shared by the code of all segments, so that this code is short: the CPU's own caches of code are
// what the code of a large program lacks first.
//
// A routine is called with the registers of replay_code.h and
//   rax  the first byte's address    rdx  the last byte's, only for those that look up
//   rsi  the RecordedAccess
// It keeps rsi and the registers from rbp on but the clock. The models are then as after Core::access() or
// Core::fetch(). Counts are as if the access hits, which the caller counts. The zero flag is clear if L1I has lost a
// line by other means than a fetch.
#pragma once

#include <cstdint>

namespace anyperf::engine {

struct AccessRoutines {
    const std::uint8_t* load = nullptr;
    const std::uint8_t* store = nullptr;
    const std::uint8_t* modify = nullptr;  ///< load and store
    const std::uint8_t* model = nullptr;   ///< any of the three; looks nothing up
    const std::uint8_t* fetch = nullptr;   ///< all lines of an instruction; looks nothing up
    const std::uint8_t* other = nullptr;   ///< any access; reads no address, and nothing is to be counted
    const std::uint8_t* finish = nullptr;  ///< the rest of the segment after the access in rsi; its flags mean nothing
};

}  // namespace anyperf::engine
