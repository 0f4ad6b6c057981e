// replay_code.h: code that replays a recorded segment in the models.
//
// PROBLEM. A loop over the accesses of a segment decides again and again what is constant for the segment: how many
// accesses there are, of which kind, from which words their addresses follow. Each decision is a branch that depends on
// the segment, so the CPU mispredicts many of them, and a misprediction costs more than the access.
//
// MECHANISM. A segment that has been replayed some times gets code that does it: a straight line that computes each
// address, compares it with the most recent line and page of their sets (models/caches/recent.h), and goes on. What
// does not repeat calls the model. At its end the code predicts the segment's conditional branch and jumps to the code
// of the next record's segment: an indirect branch that the CPU predicts as well as the program's own.
//
// The code runs in the engine, as an ordinary function: no register belongs to the program. It holds
//   rbx  the Core          rbp  the frame (ReplayCode::Frame)    r12  the current record
//   r13  counts, see Frame::counted                              r14  the array of RecordedSegment
//   r15  the current segment
// Records that are left in the middle never run here. At the end of the records the last segment's branch is left to
// the caller, who knows where it went.
//
// The code of a segment is valid as long as the segment: both go when the cache is emptied. The code depends on the
// machine's geometry, not on a thread.
#pragma once

#include <cstdint>

#include "engine/cache/recorded_segment.h"
#include "models/caches/core.h"

namespace anyperf::engine {

class Replay;
struct Modelling;
struct Engine;

class ReplayCode {
  public:
    /// So often a segment is replayed without code: code that runs once is not worth its translation.
    static constexpr std::uint64_t kWarm = 8;

    /// What the code reaches by rbp. Everything is the thread's.
    struct Frame {
        Replay* replay;
        models::Core* core;
        const RecordedSegment* segments;
        const std::uint64_t* end;        ///< of the records
        const RecordedSegment* segment;  ///< of the record at `end` that was replayed last, or of the next record
        std::uint64_t* history;          ///< of gshare
        std::uint8_t* counters;
        std::uint8_t* directions;
        std::uint64_t* mispredictions;
        /// Fetches, loads and stores of segments as if all repeated, in fields of kField bits.
        std::uint64_t counted;
    };
    static constexpr unsigned kField = 21;  ///< a drain has at most 512 words, so 512 segments of 64 instructions

    /// Replays records from `record` on, whose segment has code, to the first whose segment has none, or to the end.
    /// Returns where it is. At the end the branch of Frame::segment has not been replayed.
    static const std::uint64_t* run(Engine& engine, Frame& frame, const std::uint64_t* record);
    /// Gives the segment code, unless there is no room. The lock of the models is held.
    static void compile(Engine& engine, Replay& replay, RecordedSegment& segment);
};

}  // namespace anyperf::engine
