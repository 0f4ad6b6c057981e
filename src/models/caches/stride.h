// stride.h: the stride prefetcher. It expects that a load that has moved twice by the same distance moves by it again.
//
// A load trains it if it misses L1D, or if it is the first access to a line that a prefetch has brought. This is a
// tagged prefetch (A. J. Smith, Cache Memories, Computing Surveys 14, 1982), kept by instruction as in the reference
// prediction table of J.-L. Baer and T.-F. Chen (1991) and in the IP-based prefetcher of Intel's optimization manual
// ("Hardware Prefetching for First-Level Data Cache"). Other loads need no prefetch: L1D has their line.
//
// A load with a short stride is seen once a line, at distances that are multiples of the stride: 72, 72, 48 bytes for a
// stride of 24. So distances below two lines in one direction count as equal, and lead to the next line. A longer
// distance has to repeat exactly, as that of any stride above a line does, and leads as far again. A distance of more
// than 2 KiB is not followed.
//
// Two distances are needed before the first prefetch, so the third time that a load trains is the earliest that
// triggers one. A table of 64 entries, indexed by the load's address in the code, has the last address and distance of
// a load.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace anyperf::models {

class StridePrefetcher {
  public:
    static constexpr std::uint64_t kNothing = 0;  ///< the result of next() if there is nothing to fetch

    explicit StridePrefetcher(unsigned line_bytes) : line_(line_bytes) {}

    /// The load at `instruction` has read `address`. Returns an address in the line to fetch, or kNothing.
    std::uint64_t next(std::uint64_t instruction, std::uint64_t address) {
        Entry& entry = entries_[index_of(instruction)];
        if (entry.instruction != instruction) {
            entry = {instruction, address, 0};
            return kNothing;
        }
        const std::int64_t before = entry.distance;
        const auto distance = static_cast<std::int64_t>(address - entry.address);
        entry.address = address;
        entry.distance = distance;
        const std::int64_t ahead = step(before, distance);
        return ahead == 0 ? kNothing : address + static_cast<std::uint64_t>(ahead);
    }

  private:
    struct Entry {
        std::uint64_t instruction = 0;
        std::uint64_t address = 0;
        std::int64_t distance = 0;
    };
    static constexpr std::size_t kEntries = 64;
    static constexpr std::int64_t kFarthest = 2048;
    static constexpr std::size_t index_of(std::uint64_t instruction) {
        return (instruction ^ instruction >> 6) % kEntries;
    }

    /// How far ahead of a load to fetch that has moved by these two distances; 0: nothing.
    std::int64_t step(std::int64_t before, std::int64_t distance) const {
        const auto is_below = [](std::int64_t value, std::int64_t limit) { return value < limit && value > -limit; };
        if (distance == 0 || before == 0 || (before < 0) != (distance < 0)) return 0;
        const bool equal = before == distance;
        if (equal && !is_below(distance, line_)) return is_below(distance, kFarthest + 1) ? distance : 0;
        if (!is_below(before, 2 * line_) || !is_below(distance, 2 * line_)) return 0;
        return distance < 0 ? -line_ : line_;
    }

    std::array<Entry, kEntries> entries_{};
    std::int64_t line_;  ///< bytes
};

}  // namespace anyperf::models
