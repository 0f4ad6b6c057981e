#include "symbols/address_space.h"

#include <algorithm>

namespace anyperf::symbols {

const Map* AddressSpace::find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(maps_, address, {}, &Map::start);
    if (after == maps_.begin()) return nullptr;
    const Map& found = *std::prev(after);
    return address < found.end ? &found : nullptr;
}

// The maps are sorted by their ends, too, since none overlaps another. Only the first that ends after the start can be
// decisive: those after it begin later.
bool AddressSpace::has_overlap(const Map& map) const {
    const auto at = std::ranges::upper_bound(maps_, map.start, {}, &Map::end);
    return at != maps_.end() && at->overlaps(map);
}

void AddressSpace::add(const Map& map) {
    maps_.insert(std::ranges::upper_bound(maps_, map.start, {}, &Map::start), map);
}

// What the new map covers of an old one is cut out of it; an old map around the new one is split in two, of which the
// second begins at a later offset of its file.
void AddressSpace::replace(const Map& map) {
    std::vector<Map> kept;
    kept.reserve(maps_.size() + 2);
    for (const Map& old : maps_) {
        if (!old.overlaps(map)) {
            kept.push_back(old);
            continue;
        }
        if (old.start < map.start) kept.push_back({old.start, map.start, old.file_offset, old.dso});
        if (old.end > map.end) kept.push_back({map.end, old.end, old.file_offset + (map.end - old.start), old.dso});
    }
    maps_ = std::move(kept);
    add(map);
}

}  // namespace anyperf::symbols
