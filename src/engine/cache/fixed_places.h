// fixed_places.h: where code would be if nothing was random.
//
// The models of branch predictors use the addresses of branches, as hardware does: which of them share an entry of a
// table depends on all their bits. With the real addresses, which are others in each run, the number of mispredictions
// of one program would differ from run to run by one or two in a hundred.
//
// Linux moves whole areas by a random number of pages: a program with a loader, all mappings together, and the vDSO. In
// an area all addresses keep their distances. So each area has a fixed place here, and code that is in none of them has
// its own address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

class FixedPlaces {
  public:
    /// What is in [start, end) now would be at `place` and after it. Areas that are added first come first.
    void add(std::uint64_t start, std::uint64_t end, std::uint64_t place) {
        if (count_ < kAreas) areas_[count_++] = {start, end, place};
    }

    std::uint64_t of(std::uint64_t address) const {
        for (std::size_t i = 0; i < count_; ++i)
            if (const Area& area = areas_[i]; address >= area.start && address < area.end)
                return address - area.start + area.place;
        return address;
    }

  private:
    struct Area {
        std::uint64_t start = 0, end = 0, place = 0;
    };
    static constexpr std::size_t kAreas = 3;
    Area areas_[kAreas];
    std::size_t count_ = 0;
};

}  // namespace anyperf::engine
