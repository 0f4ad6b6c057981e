// stride.h: the stride prefetcher. It expects that a load whose address has moved twice by the same distance moves by
// it again.
//
// Two equal distances are needed before the first prefetch, so a load's third access is the earliest that triggers one.
// A load that repeats one address has a distance of 0, which is not followed.
//
// A table of 64 entries, indexed by the load's address in the code, remembers the last address and distance of a load,
// as the IP-based prefetcher of Intel's optimization manual does (section "Hardware Prefetching for First-Level Data
// Cache"). A distance of more than 2 KiB is not followed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace anyperf::models {

class StridePrefetcher {
  public:
    static constexpr std::uint64_t kNothing = 0;  ///< the result of next() if there is nothing to fetch

    /// The load at `instruction` has read `address`. Returns the address to fetch, or kNothing.
    std::uint64_t next(std::uint64_t instruction, std::uint64_t address) {
        Entry& entry = entries_[index_of(instruction)];
        if (entry.instruction != instruction) {
            entry = {instruction, address, 0};
            return kNothing;
        }
        const auto distance = static_cast<std::int64_t>(address - entry.address);
        const bool again = distance != 0 && distance == entry.distance;
        entry.address = address;
        entry.distance = distance;
        const bool near = distance <= kFarthest && distance >= -kFarthest;
        return again && near ? address + static_cast<std::uint64_t>(distance) : kNothing;
    }

    // For generated code, which does the same where nothing is to be fetched (engine/modelling/access_routines.cpp).

    struct Entry {
        std::uint64_t instruction = 0;
        std::uint64_t address = 0;
        std::int64_t distance = 0;
    };
    static constexpr std::size_t index_of(std::uint64_t instruction) {
        return (instruction ^ instruction >> 6) % kEntries;
    }
    const Entry* entries() const { return entries_.data(); }
    static constexpr std::size_t kEntries = 64;
    static constexpr std::int64_t kFarthest = 2048;

  private:
    std::array<Entry, kEntries> entries_{};
};

}  // namespace anyperf::models
