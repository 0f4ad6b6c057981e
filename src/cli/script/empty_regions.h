// empty_regions.h: addresses of a process at which nothing is mapped, found without a look at its maps. Code without
// frame pointers leaves anything in its call chains: half of the words of such a recording are data and no code, and
// nearly all of them are different.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analysis/processes.h"

namespace anyperf::cli {

/// What was found out for regions of 1 MiB, in a table of the last ones. `processes` must outlive it.
class EmptyRegions {
  public:
    explicit EmptyRegions(const analysis::Processes& processes) : processes_(processes) {}

    /// Whether no map of `space` has an address in the region of `address`.
    bool has(std::uint64_t address, analysis::SpaceId space) {
        if (version_ != processes_.version()) forget();
        const std::uint64_t region = address >> kBits;
        Known& known = known_[(region ^ region >> 11 ^ space) % known_.size()];
        if (known.region != region || known.space != space) known = look(region, space);
        return known.empty;
    }

  private:
    struct Known {
        std::uint64_t region = ~std::uint64_t{0};  // no address has this one
        analysis::SpaceId space = 0;
        bool empty = false;
    };
    static constexpr unsigned kBits = 20;

    // The last region has no end that 64 bits can hold. It is the kernel's, so it may be said to have a map.
    Known look(std::uint64_t region, analysis::SpaceId space) const {
        const std::uint64_t start = region << kBits, end = (region + 1) << kBits;
        return {region, space, end != 0 && !processes_[space].has_overlap({.start = start, .end = end})};
    }
    void forget() {
        known_ = {};
        version_ = processes_.version();
    }

    const analysis::Processes& processes_;
    std::array<Known, 1024> known_{};
    std::uint64_t version_ = 0;
};

}  // namespace anyperf::cli
