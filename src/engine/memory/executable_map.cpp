// executable_map.cpp: a sorted array of ranges. Programs have some hundred executable ranges and rarely change them. So
// it costs less to move the ranges after an insertion than to look up each address in a tree.
#include "engine/memory/executable_map.h"

#include <algorithm>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

bool ExecutableMap::reserve() {
    ranges_ = static_cast<ExecutableRange*>(reserve_pages(sizeof(ExecutableRange) * kCapacity));
    return ranges_ != nullptr;
}

std::size_t ExecutableMap::first_ending_after(std::uint64_t address) const {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (ranges_[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool ExecutableMap::insert(std::size_t place, const ExecutableRange& range) {
    if (count_ == kCapacity) return false;  // code beyond 65,536 separate ranges faults when it is reached
    for (std::size_t i = count_; i > place; --i) ranges_[i] = ranges_[i - 1];
    ranges_[place] = range;
    ++count_;
    return true;
}

// A range that contains the removed one becomes two; those that overlap one of its ends are cut; those inside vanish.
void ExecutableMap::remove(std::uint64_t start, std::uint64_t end) {
    std::size_t place = first_ending_after(start);
    while (place < count_ && ranges_[place].start < end) {
        ExecutableRange& range = ranges_[place];
        if (range.start < start && range.end > end) {
            ExecutableRange rest = range;
            rest.start = end;
            range.end = start;
            // A full array loses the upper part: see insert().
            insert(place + 1, rest);
            return;
        }
        if (range.start < start) {
            range.end = start;
            ++place;
        } else if (range.end > end) {
            range.start = end;
            return;
        } else {
            for (std::size_t i = place + 1; i < count_; ++i) ranges_[i - 1] = ranges_[i];
            --count_;
        }
    }
}

bool ExecutableMap::add(const ExecutableRange& range) {
    remove(range.start, range.end);
    return insert(first_ending_after(range.start), range);
}

void ExecutableMap::set_stored(std::uint64_t start, std::uint64_t end, std::uint32_t number) {
    const std::size_t place = first_ending_after(start);
    if (place == count_ || ranges_[place].start != start || ranges_[place].end != end) return;
    if (!ranges_[place].writable && !ranges_[place].shared) ranges_[place].stored = number;
}

void ExecutableMap::set_unstored(std::uint64_t start, std::uint64_t end) {
    for (std::size_t i = first_ending_after(start); i < count_ && ranges_[i].start < end; ++i) ranges_[i].stored = 0;
}

void ExecutableMap::set_shared(std::uint64_t start, std::uint64_t end) {
    for (std::size_t i = first_ending_after(start); i < count_ && ranges_[i].start < end;
         i = first_ending_after(start)) {
        ExecutableRange part = ranges_[i];
        part.start = std::max(part.start, start);
        part.end = std::min(part.end, end);
        part.shared = true;
        part.stored = 0;
        add(part);
        start = part.end;
    }
}

const ExecutableRange* ExecutableMap::find(std::uint64_t address) const {
    const std::size_t place = first_ending_after(address);
    return place < count_ && ranges_[place].start <= address ? &ranges_[place] : nullptr;
}

std::uint64_t ExecutableMap::bytes_from(std::uint64_t address) const {
    std::size_t place = first_ending_after(address);
    if (place == count_ || ranges_[place].start > address) return 0;
    std::uint64_t end = ranges_[place].end;
    for (++place; place < count_ && ranges_[place].start == end; ++place) end = ranges_[place].end;
    return end - address;
}

bool ExecutableMap::touches(std::uint64_t start, std::uint64_t end) const {
    const std::size_t place = first_ending_after(start);
    return place < count_ && ranges_[place].start < end;
}

}  // namespace anyperf::engine
