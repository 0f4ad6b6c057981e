// own_pages.h: the list of the engine's memory in this process. By this list the handlers of system calls keep the
// application from replacing the engine's memory, leave it out of /proc/self/maps, and do not count it against limits.
//
// It also says where the engine's memory lies: in an area below that in which the kernel places the application's
// mappings. If the engine's memory were among those, each would have another address if the engine needs more or less,
// as it does for models or samples. Then counts of caches and branch predictors, which depend on addresses, would
// depend on what else is counted, and so would all that a program does with its addresses.
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

    /// From here on next_place() gives places in this area.
    void set_area(Range area);
    /// A place for `bytes` in the area, after the one that was given last, where no range of the list is; 0 if there is
    /// none. The application may have memory there.
    std::uint64_t next_place(std::uint64_t bytes);

    /// Held over a fork, so that the child's copy is consistent; the child resets the lock.
    void lock_for_fork() { lock_.lock(); }
    void unlock_after_fork() { lock_.unlock(); }
    void reset_lock() { lock_.reset(); }

    static constexpr std::size_t kCapacity = 16384;

  private:
    Range lowest_in(std::uint64_t start, std::uint64_t end) const;

    Lock lock_;
    Range area_;              ///< empty until set_area()
    std::uint64_t next_ = 0;  ///< where in the area next_place() looks first
    std::size_t used_ = 0;    ///< all slots from this one on are free
    Range ranges_[kCapacity];
};

/// The list of this process.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern constinit OwnPages own_pages;

}  // namespace anyperf::engine
