// address_space.h: what a process has mapped, as sorted maps that do not overlap. Reports name samples after the whole
// recording has been read. So analysis/processes.h begins a new AddressSpace when a process replaces a map that a
// sample has used. The kernel's space has no such versions.
//
// Maps come from records that a stranger may have written, so they may overlap in any way. replace() cuts them, as
// mmap(2) with MAP_FIXED does, and keeps the invariant: sorted by start, none overlaps another.
#pragma once

#include <cstdint>
#include <vector>

namespace anyperf::symbols {

class Dso;

/// A range of addresses and the code that is mapped there. The dso is not owned.
struct Map {
    std::uint64_t start = 0;
    std::uint64_t end = 0;          ///< first address after it
    std::uint64_t file_offset = 0;  ///< of `start`
    Dso* dso = nullptr;
    bool shared_data = false;  ///< a file that is mapped with MAP_SHARED and without PROT_EXEC

    bool overlaps(const Map& other) const { return start < other.end && other.start < end; }
};

class AddressSpace {
  public:
    /// The map that contains `address`, or null. Valid until the next add() or replace().
    const Map* find(std::uint64_t address) const;

    /// Whether one of the maps has an address in common with `map`.
    bool has_overlap(const Map& map) const;

    /// Adds a map. Precondition: it overlaps no other.
    void add(const Map& map);

    /// Adds a map, and cuts or removes those that it overlaps. What is left of a cut one keeps its place in the file.
    void replace(const Map& map);

    const std::vector<Map>& maps() const { return maps_; }

  private:
    std::vector<Map> maps_;  // sorted by start
};

}  // namespace anyperf::symbols
