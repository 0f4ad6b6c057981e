#include "perfdata/round_queue.h"

#include <algorithm>
#include <cstring>

namespace anyperf::perfdata {

// Notes where the times decrease: sort() merges the ascending runs between these places.
void RoundQueue::add(const Entry& entry) {
    if (entries_.empty())
        runs_.assign(1, 0);
    else if (entry.time < entries_.back().time)
        runs_.push_back(entries_.size());
    entries_.push_back(entry);
    newest_ = std::max(newest_, entry.time);
}

void RoundQueue::add_stable(std::uint64_t time, Bytes record, std::uint32_t event) {
    add({time, record.data(), event, kStable});
}

// Copies are aligned to 8 bytes, as records in a file are, because decoders may load whole words.
void RoundQueue::add_copy(std::uint64_t time, Bytes record, std::uint32_t event) {
    const std::uint32_t which = chunk_with_room(record.size());
    Chunk& chunk = chunks_[which];
    std::byte* copy = chunk.bytes.get() + chunk.used;
    std::memcpy(copy, record.data(), record.size());
    chunk.used += (record.size() + 7) & ~std::size_t{7};
    ++chunk.waiting;
    add({time, copy, event, which});
}

std::uint32_t RoundQueue::chunk_with_room(std::size_t size) {
    const std::size_t needed = (size + 7) & ~std::size_t{7};
    if (current_ != kStable && chunks_[current_].size - chunks_[current_].used >= needed) return current_;
    // A full chunk whose records are all delivered is used again.
    auto free = std::ranges::find_if(chunks_, [](const Chunk& chunk) { return chunk.waiting == 0; });
    if (free == chunks_.end()) {
        chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(kChunk), kChunk});
        free = std::prev(chunks_.end());
    }
    free->used = 0;
    copied_ += kChunk;
    return current_ = static_cast<std::uint32_t>(free - chunks_.begin());
}

void RoundQueue::release(std::uint32_t chunk) {
    if (chunk == kStable || --chunks_[chunk].waiting > 0) return;
    copied_ -= kChunk;
    if (current_ == chunk) current_ = kStable;
}

// The records of each ring are in order, so there are about as many ascending runs as rings: merging neighbours until
// one run is left takes one pass for each doubling of the number of rings. Sorting would take one for each doubling of
// the number of records. Equal times keep the order of the file.
void RoundQueue::sort() {
    while (runs_.size() > 1) {
        merged_.clear();
        merged_.reserve(entries_.size());
        std::vector<std::size_t> next;
        const auto begin = entries_.begin();
        for (std::size_t i = 0; i < runs_.size(); i += 2) {
            const auto at = [&](std::size_t run) {
                return begin + static_cast<std::ptrdiff_t>(run < runs_.size() ? runs_[run] : entries_.size());
            };
            next.push_back(merged_.size());
            std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), std::back_inserter(merged_),
                       [](const Entry& a, const Entry& b) { return a.time < b.time; });
        }
        entries_.swap(merged_);
        runs_ = std::move(next);
    }
}

// The lowest address, not the oldest time: memory of the file is given back in the order of the file.
const std::byte* RoundQueue::lowest_in(Bytes memory) const {
    const std::byte* lowest = nullptr;
    const std::byte* end = memory.data() + memory.size();
    for (const Entry& entry : entries_)
        if (entry.chunk == kStable && entry.record >= memory.data() && entry.record < end &&
            (!lowest || entry.record < lowest))
            lowest = entry.record;
    return lowest;
}

}  // namespace anyperf::perfdata
