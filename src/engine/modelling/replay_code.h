// replay_code.h: code that replays a recorded segment in the models.
//
// The problem: a loop over the accesses of a segment decides again and again what is constant for the segment: how many
// accesses there are, of which kind, and from which words to compute their addresses. Each decision is a branch that
// depends on the segment, so the CPU mispredicts many of them, and a misprediction costs more than the access.
//
// The mechanism: a segment that has been replayed kWarm times gets generated code for it: a straight line that looks up
// each group of accesses (access_groups.h). If they hit, it writes down when (models/caches/first_level.h). Else it
// calls a routine (access_routines.h), which calls the model for what does not hit. At its end the code predicts the
// segment's conditional branch, if branches are predicted, and jumps to the code of the next record's segment, by an
// indirect branch that the CPU predicts as well as the program's own.
//
// The code runs in the engine, as an ordinary function, so no register has a value of the program. The registers are
//   rbx  the Core          rbp  the frame (ReplayCode::Frame)    r12  the current record
//   r13  what becomes Frame::counted                             r14  the core's clock
//   r15  the current segment
// The code is never used for a segment that was left in the middle. The records end with one of segment 0, which the
// code takes for one that has no code yet. Its `pc` is where the branch of the last record went.
//
// The code of a segment is valid as long as the segment, until a flush. It depends on the machine's geometry, not on a
// thread.
#pragma once

#include <cstdint>

#include "engine/cache/recorded_segment.h"
#include "engine/modelling/replay_frame.h"

namespace anyperf::models {
class Core;
}

namespace anyperf::engine {

class Replay;
struct Modelling;
struct Engine;

class ReplayCode {
  public:
    /// How often a segment is replayed before it gets code: code that runs only once is not worth its generation.
    static constexpr std::uint64_t kWarm = 8;

    using Frame = ReplayFrame;

    /// Replays records from `record`, whose segment has code, up to the first whose segment has none. Returns that
    /// record.
    static const std::uint64_t* run(Engine& engine, Frame& frame, const std::uint64_t* record);
    /// Maps the memory for code, once. Call it before any segment is recorded. Precondition: the lock of the models is
    /// held.
    static void prepare(Engine& engine, const models::Core& core);
    /// Once the way in which pages are looked up has changed (page_choice.h): segments get their code anew when they
    /// are replayed next. Precondition: as of prepare().
    static void begin_anew(Engine& engine, const models::Core& core);
    /// Generates code for the segment, unless there is no room. Precondition: the lock of the models is held.
    static void compile(Engine& engine, Replay& replay, RecordedSegment& segment);
};

}  // namespace anyperf::engine
