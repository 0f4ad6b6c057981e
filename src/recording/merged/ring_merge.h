// ring_merge.h: reads several rings as one, in the order of time.
//
// Whoever unwinds a sample needs the maps of its process as they were then. The record of a map may be in any ring: a
// thread maps a library on one CPU, and another one runs its code on the next. Time orders them. But rings are read one
// after the other while they are written, so a sample in the last one may be younger than all that was seen of the
// first. Hence the two looks of begin(): the first one decides which records this round has, and the second one, after
// it, finds the maps. Code runs after its map was recorded, so the second look has seen the map of every sample of the
// first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "perfdata/sample_layout.h"
#include "recording/ring.h"

namespace anyperf::recording {

class RingMerge {
  public:
    /// `layout`: of any event: all have the time at the same places.
    explicit RingMerge(const perfdata::SampleLayout& layout) : layout_(layout) {}

    struct Timed {
        std::uint64_t time = 0;
        Bytes record;
    };

    /// Takes what is in the rings now. They must be the same, in the same order, at each call, and outlive the round.
    void begin(std::span<Ring> rings);
    /// The next record, valid until the next call; nothing at the end of the round. The room of the one before is given
    /// back to its ring, sooner or later in the round.
    std::optional<Timed> next();
    /// The next map, task or end of a task that is not younger than `time`, in the order of time over all rounds; valid
    /// until the next call.
    std::optional<Bytes> next_side_band(std::uint64_t time);

  private:
    /// Where a ring is read.
    struct Place {
        Ring* ring = nullptr;
        std::uint64_t at = 0, end = 0;
        Timed now;
    };
    struct SideBand {
        std::uint64_t time = 0;
        std::vector<std::byte> record;
    };

    void find_side_band(Ring& ring, std::uint64_t& seen);
    std::uint64_t time_of(Bytes record) const;
    bool load(Place& place) const;
    void advance();

    const perfdata::SampleLayout& layout_;
    std::vector<Place> places_;        // a heap: the oldest record is at its front
    std::vector<std::uint64_t> seen_;  // of each ring, the position up to which find_side_band() has looked
    std::vector<SideBand> side_band_;  // in the order of time, from next_side_band_ on
    std::size_t next_side_band_ = 0;
    bool has_current_ = false;
};

}  // namespace anyperf::recording
