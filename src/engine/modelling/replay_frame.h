// replay_frame.h: the state of one thread that the code of replay_code.h addresses by rbp.
#pragma once

#include <cstdint>

#include "engine/cache/recorded_segment.h"

namespace anyperf::models {
class Core;
}

namespace anyperf::engine {

class Replay;

struct ReplayFrame {
    static constexpr unsigned kField = 21;  ///< a drain has at most 512 words, so 512 segments of 64 instructions

    Replay* replay;
    models::Core* core;
    const RecordedSegment* segments;
    const RecordedSegment* segment;  ///< of the next record
    std::uint32_t* history;          ///< of gshare
    std::uint8_t* counters;
    std::uint8_t* directions;
    std::uint64_t* mispredictions;
    std::uint64_t resolved;  ///< cycles that the branches waited for that this code has found mispredicted
    /// Fetches, loads and stores of segments as if all repeated, in fields of kField bits.
    std::uint64_t counted;
    std::uint64_t fs_base;
};

}  // namespace anyperf::engine
