// own_area.h: an area of the engine's memory that is mapped once, at the process's start, and given out piece by piece.
// So what the engine needs later does not lie where the kernel would put the application's next mapping: a program
// whose addresses are not random has the same ones, however much the engine has to keep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/pages.h"
#include "engine/freestanding/pages_ahead.h"

namespace anyperf::engine {

/// Not synchronised.
class OwnArea {
  public:
    /// Maps the area where the kernel likes. False if it refuses.
    bool reserve(std::uint64_t bytes) {
        next_ = address_of(reserve_pages(bytes));
        end_ = next_ + bytes;
        return next_ != 0;
    }
    /// Maps it at this address. False if something is there, or the kernel refuses.
    bool reserve_at(std::uint64_t address, std::uint64_t bytes) {
        const long got = map_own_pages_at(address, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE);
        if (is_error(got)) return false;
        next_ = static_cast<std::uint64_t>(got);
        end_ = next_ + bytes;
        return true;
    }

    /// Gives out this memory, which is already mapped, is all zeros and is not used by anyone else.
    void begin(std::uint64_t start, std::uint64_t bytes) {
        next_ = start;
        end_ = start + bytes;
    }

    /// Pages of zeros that nobody has had; null if too few are left. They are never given out again.
    void* take(std::uint64_t bytes) {
        if (page_up(bytes) > end_ - next_) return nullptr;
        void* const taken = at_address<void>(next_);
        next_ += page_up(bytes);
        return taken;
    }

    /// The same for memory that is used from its start on, as far as it is needed: the first large page begins right
    /// after the part that has `small` ones (pages_ahead.h).
    void* take_growing(std::uint64_t bytes, std::uint64_t small = PagesAhead::kSmallBytes) {
        next_ = large_page_up(next_ + small) - small;
        return next_ <= end_ ? take(bytes) : nullptr;
    }
    /// What take_growing() may leave out before a piece.
    static constexpr std::uint64_t kLeftOut = kLargePageBytes;

  private:
    std::uint64_t next_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace anyperf::engine
