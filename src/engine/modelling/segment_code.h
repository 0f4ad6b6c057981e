// segment_code.h: writes the code that replays one recorded segment (replay_code.h says what for).
#pragma once

#include <cstdint>

#include "engine/modelling/access_routines.h"
#include "engine/modelling/branch_code.h"
#include "engine/modelling/look_up_code.h"
#include "engine/modelling/replay.h"
#include "engine/modelling/replay_emitter.h"
#include "engine/x86_64/accesses/access_groups.h"
#include "models/caches/core.h"

namespace anyperf::engine {

/// The code has a body, which looks up the groups of AccessGroups and the lines of code in the order in which they are
/// accessed. Where that fails, the accesses of the group call the routines of access_routines.h one by one, out of
/// line.
class SegmentCode {
  public:
    /// @param keeps_recent as of LookUpCode
    SegmentCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment, const AccessRoutines& routines,
                bool keeps_recent);

    void write();

  private:
    static constexpr unsigned kMostAccesses = AccessGroups::kMostAccesses;
    using Condition = x86_64::Condition;
    using Level = models::ShortPath::Level;
    /// Operands of jumps to one place.
    struct Jumps {
        std::uint8_t* from[8];
        unsigned count;
    };
    /// The look-up of an instruction's lines that has failed.
    struct Fetch {
        Jumps jumps;
        unsigned index;
        const std::uint8_t* back;
    };
    /// The look-up of a group that has failed.
    struct Failed {
        Jumps jumps;
        const std::uint8_t* back;
    };

    void jump_to(Jumps& jumps, Condition condition) { jumps.from[jumps.count++] = out_.jcc_far(condition); }
    void bind(const Jumps& jumps) {
        for (unsigned i = 0; i < jumps.count; ++i) out_.bind_far(jumps.from[i]);
    }
    bool is_fetch(unsigned index) const { return first_[index].kind == RecordedAccess::Kind::fetch; }

    void write_body();
    void write_other(unsigned index);
    void write_address(const RecordedAccess& access, std::int64_t displacement);
    void write_look_up(unsigned index, const AccessGroup& group);
    void write_known(const AccessGroup& group, Jumps& failed);
    void write_line(const AccessGroup& group, Jumps& failed);
    void write_lines(const AccessGroup& group, Jumps& failed);
    void write_page(Jumps& failed);
    void write_known_page(const Level& level, std::uint64_t page, Jumps& failed);

    unsigned lines_of(unsigned index, std::uint64_t (&addresses)[2]) const;
    void write_fetch(unsigned index);
    void write_next();

    void write_failed();
    void write_one(unsigned index, bool alone);
    void write_failed_fetches();

    ReplayEmitter& out_;
    Replay& replay_;
    const RecordedSegment& segment_;
    const RecordedAccess* first_;
    models::ShortPath path_;
    const AccessRoutines& routines_;
    AccessGroups groups_;
    LookUpCode code_;
    BranchCode branch_;
    const std::uint8_t* skip_rest_ = nullptr;
    std::uint64_t code_page_ = ~std::uint64_t{0};  ///< that was looked up last
    Failed failed_[kMostAccesses];                 ///< look-ups of groups, by the first access
    Fetch fetches_[kMostAccesses];
    unsigned fetch_count_ = 0;
    std::uint8_t* finishing_[3 * kMostAccesses];  ///< operands of jumps to the segment's finish
    unsigned finishing_count_ = 0;
};

}  // namespace anyperf::engine
