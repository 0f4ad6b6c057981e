// replay_code.h: code that replays a recorded segment in the models.
//
// The problem: a loop over the accesses of a segment decides again and again what is constant for the segment: how many
// accesses there are, of which kind, and from which words to compute their addresses. Each decision is a branch that
// depends on the segment, so the CPU mispredicts many of them, and a misprediction costs more than the access.
//
// The mechanism: a segment that has been replayed kWarm times gets generated code for it: a straight line that computes
// each address and calls a routine for what hits (access_routines.h). For other accesses it calls the model. At its end
// the code predicts the segment's conditional branch, if branches are predicted, and jumps to the code of the next
// record's segment, by an indirect branch that the CPU predicts as well as the program's own.
//
// The code runs in the engine, as an ordinary function, so no register has a value of the program. The registers are
//   rbx  the Core          rbp  the frame (ReplayCode::Frame)    r12  the current record
//   r13  of a load: its entry of the stride prefetcher           r14  the array of RecordedSegment
//   r15  the current segment
// The code is never used for a segment that was left in the middle. The caller replays the branch of the last record,
// since it knows where that went.
//
// The code of a segment is valid as long as the segment, until a flush. It depends on the machine's geometry, not on a
// thread.
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
    /// How often a segment is replayed before it gets code: code that runs only once is not worth its generation.
    static constexpr std::uint64_t kWarm = 8;

    /// The state of one thread that the code addresses by rbp.
    struct Frame {
        Replay* replay;
        models::Core* core;
        const RecordedSegment* segments;
        const std::uint64_t* end;        ///< of the records
        const RecordedSegment* segment;  ///< of the record at `end` that was replayed last, or of the next record
        std::uint32_t* history;          ///< of gshare
        std::uint8_t* counters;
        std::uint8_t* directions;
        std::uint64_t* mispredictions;
        std::uint64_t resolved;  ///< cycles that the branches waited for that this code has found mispredicted
        /// Fetches, loads and stores of segments as if all repeated, in fields of kField bits.
        std::uint64_t counted;
    };
    static constexpr unsigned kField = 21;  ///< a drain has at most 512 words, so 512 segments of 64 instructions

    /// Replays records from `record`, whose segment has code, up to the first whose segment has none, or to the end.
    /// Returns the record after them. If that is the end, the branch of Frame::segment has not been replayed.
    static const std::uint64_t* run(Engine& engine, Frame& frame, const std::uint64_t* record);
    /// Generates code for the segment, unless there is no room. Precondition: the lock of the models is held.
    static void compile(Engine& engine, Replay& replay, RecordedSegment& segment);
};

}  // namespace anyperf::engine
