// own_pages.h: which memory of this process is the engine's. The application may neither replace it nor see it in
// /proc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"

namespace anyperf::engine {

class OwnPages {
  public:
    struct Range {
        std::uint64_t start = 0;
        std::uint64_t end = 0;  ///< 0: none
    };

    /// What does not fit any more is not protected.
    void add(std::uint64_t start, std::uint64_t end);
    /// Whatever was added in [start, end).
    void remove(std::uint64_t start, std::uint64_t end);

    /// The first range with bytes in [start, end); end is 0 where there is none.
    Range first_in(std::uint64_t start, std::uint64_t end);
    bool touches(std::uint64_t start, std::uint64_t end) { return first_in(start, end).end != 0; }

    /// All that was added.
    std::uint64_t bytes();

    /// In a fork's child, where the thread that held the lock does not exist.
    void reset_lock() { lock_.reset(); }

  private:
    static constexpr std::size_t kCapacity = 16384;

    Lock lock_;
    std::size_t used_ = 0;  ///< ranges ever used: where searches end
    Range ranges_[kCapacity];
};

/// Of this process.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern constinit OwnPages own_pages;

}  // namespace anyperf::engine
