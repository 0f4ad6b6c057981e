// branch_code.h: generated code that replays the branch at the end of a recorded segment.
#pragma once

#include <cstdint>

#include "engine/cache/recorded_segment.h"
#include "engine/modelling/replay.h"
#include "engine/modelling/replay_emitter.h"
#include "models/branches/gshare.h"
#include "models/branches/sites.h"

namespace anyperf::engine {

/// The registers are those of replay_code.h; r15 is the segment to which the branch went.
class BranchCode {
  public:
    BranchCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment);

    /// Writes the code where the segment ends.
    void write();
    /// Writes what is rare, out of line. Call it after write().
    void write_rare();

  private:
    void write_conditional();
    void write_counter(std::uint64_t place);
    void write_path(std::uint64_t place, std::uint64_t moved);

    ReplayEmitter& out_;
    Replay& replay_;
    const RecordedSegment& segment_;
    bool notes_branches_;  ///< Replay::branch() does all of it
    const models::Gshare* gshare_;
    const models::Sites& sites_;
    std::uint8_t* one_way_ = nullptr;
    const std::uint8_t* after_branch_ = nullptr;
    std::int64_t site_ = 0;
};

}  // namespace anyperf::engine
