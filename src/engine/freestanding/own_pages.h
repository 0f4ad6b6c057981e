// own_pages.h: the list of the engine's memory in this process. By this list the handlers of system calls keep the
// application from replacing the engine's memory, leave it out of /proc/self/maps, and do not count it against limits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"

namespace anyperf::engine {

/// A set of ranges, with its own lock.
class OwnPages {
  public:
    struct Range {
        std::uint64_t start = 0;
        std::uint64_t end = 0;  ///< 0: no range
    };

    /// Adds a range. False if there are kCapacity ranges already: the caller must not use the memory.
    bool add(std::uint64_t start, std::uint64_t end);
    /// Removes the ranges that are inside [start, end).
    void remove(std::uint64_t start, std::uint64_t end);

    /// The first range with bytes in [start, end); its `end` is 0 if no range has.
    Range first_in(std::uint64_t start, std::uint64_t end);
    /// Whether any byte of [start, end) is the engine's.
    bool touches(std::uint64_t start, std::uint64_t end) { return first_in(start, end).end != 0; }

    /// The sum of all ranges.
    std::uint64_t bytes();

    /// Held over a fork, so that the child's copy is consistent; the child resets the lock.
    void lock_for_fork() { lock_.lock(); }
    void unlock_after_fork() { lock_.unlock(); }
    void reset_lock() { lock_.reset(); }

    static constexpr std::size_t kCapacity = 16384;

  private:
    Lock lock_;
    std::size_t used_ = 0;  ///< all slots from this one on are free
    Range ranges_[kCapacity];
};

/// The list of this process.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern constinit OwnPages own_pages;

}  // namespace anyperf::engine
