// segment_code.h: writes the code that replays one recorded segment (replay_code.h says what for).
#pragma once

#include <cstdint>

#include "engine/modelling/access_routines.h"
#include "engine/modelling/branch_code.h"
#include "engine/modelling/replay.h"
#include "engine/modelling/replay_emitter.h"
#include "engine/modelling/state.h"
#include "engine/x86_64/accesses/access_groups.h"
#include "models/caches/core.h"

namespace anyperf::engine {

/// The code has a body of look-ups, and parts out of line: for each part of AccessGroups its accesses one by one, and
/// for fetches what does not repeat. Only look-ups that fail jump there; at its end a part jumps back.
class SegmentCode {
  public:
    SegmentCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment, const ReplayMemory& memory);

    void write();

  private:
    static constexpr unsigned kMostAccesses = AccessGroups::kMostAccesses;
    using Condition = x86_64::Condition;
    /// Operands of jumps to one place.
    struct Jumps {
        std::uint8_t* from[8];
        unsigned count;
    };
    /// The look-up of a line of code that has failed.
    struct Fetch {
        Jumps jumps;
        unsigned index;
        std::uint64_t address;
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
    void write_look_up_known(const AccessGroup& group, Jumps& failed);
    void write_look_up_line(const AccessGroup& group, Jumps& failed);
    void write_look_up_lines(const AccessGroup& group, Jumps& failed);
    void write_page(Jumps& failed);

    unsigned lines_of(unsigned index, std::uint64_t (&addresses)[2]) const;
    void write_fetch(unsigned index);
    void write_next();

    void write_parts();
    void write_one(unsigned index);
    void write_one_fetch(unsigned index);
    void write_failed_fetches();

    ReplayEmitter& out_;
    Replay& replay_;
    const RecordedSegment& segment_;
    const RecordedAccess* first_;
    models::ShortPath path_;
    const AccessRoutines& routines_;
    AccessGroups groups_;
    BranchCode branch_;
    const std::uint8_t* skip_rest_ = nullptr;
    std::uint64_t code_page_ = ~std::uint64_t{0};  ///< that was looked up last
    Jumps failed_[kMostAccesses];                  ///< look-ups of groups, by the first access
    const std::uint8_t* after_[kMostAccesses];     ///< in the body, after the last access of a part, or a fetch
    const std::uint8_t* ones_[kMostAccesses];      ///< out of line, the code of one access
    Fetch fetches_[2 * kMostAccesses];
    unsigned fetch_count_ = 0;
    std::uint8_t* finishing_[3 * kMostAccesses];  ///< operands of jumps to the segment's finish
    unsigned finishing_count_ = 0;
};

}  // namespace anyperf::engine
