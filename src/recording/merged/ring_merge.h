// ring_merge.h: reads several rings as one, in the order of time.
//
// To unwind a sample, the maps of its process at that time must be known. The record of a map may be in any ring: a
// thread maps a library on one CPU, and another thread runs its code on another CPU. Their times order the two records.
// But the rings are written while they are read one after the other, so a sample in the last ring may be younger than
// all that was read from the first. Therefore begin() reads the rings twice: the first pass fixes which records belong
// to this round, and the second pass, which begins after the first has ended, finds the maps. The kernel records a map
// before its code can run, so the second pass finds the map of every sample of the first.
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
    /// `layout`: that of any event, since all have the time at the same places.
    explicit RingMerge(const perfdata::SampleLayout& layout) : layout_(layout) {}

    struct Timed {
        std::uint64_t time = 0;
        Bytes record;
    };

    /// Begins a round with what is in the rings now. They must be the same, in the same order, at each call, and
    /// outlive the round.
    void begin(std::span<Ring> rings);
    /// The next record, valid until the next call; nothing at the end of the round. By then all records of the round
    /// have been released to their rings.
    std::optional<Timed> next();
    /// The next MMAP, FORK or EXIT record that is not younger than `time`, in the order of time over all rounds; valid
    /// until the next call. Nothing if there is no such record yet.
    std::optional<Bytes> next_side_band(std::uint64_t time);

  private:
    /// The part of a ring that the round has not read, and its first record.
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
    std::vector<std::uint64_t> seen_;  // for each ring, the position up to which find_side_band() has searched
    std::vector<SideBand> side_band_;  // in the order of time, from next_side_band_ on
    std::size_t next_side_band_ = 0;
    bool has_current_ = false;
};

}  // namespace anyperf::recording
