#include "perfdata/round_queue.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace anyperf::perfdata {

// A record that is older than the one before it begins a run.
void RoundQueue::add(const Entry& entry) {
    if (end_ % kBlock == 0) add_block();
    Block& block = *blocks_.back();
    block.entries[end_ % kBlock] = entry;
    ++block.waiting;
    const bool begins_run = !last_waits_ || entry.time < last_time_;
    if (begins_run) {
        if (last_waits_) entry_at(end_ - 1).ends_run = true;
        heads_.push_back({entry.time, end_});
        std::ranges::push_heap(heads_, [](const Head& a, const Head& b) { return is_before(b, a); });
    }
    last_time_ = entry.time;
    last_waits_ = true;
    ++end_;
    ++waiting_;
    newest_ = std::max(newest_, entry.time);
}

void RoundQueue::add_block() {
    if (spare_blocks_.empty()) spare_blocks_.push_back(new (take_memory(sizeof(Block)).data()) Block);
    if (blocks_.empty()) first_block_ = end_ >> kBlockBits;
    blocks_.push_back(spare_blocks_.back());
    spare_blocks_.pop_back();
    blocks_.back()->waiting = 0;
}

/// The first record, at `at`, is no longer the queue's: the next one of its run takes its place, if it has one yet.
void RoundQueue::advance(std::uint64_t at, bool ends_run) {
    const std::uint64_t next = at + 1;
    if (next == end_) last_waits_ = false;
    if (next < end_ && !ends_run) {
        replace_first({entry_at(next).time, next});
    } else {
        const Head last = heads_.back();
        heads_.pop_back();
        if (!heads_.empty()) replace_first(last);
    }
    --waiting_;
    const bool full = at >> kBlockBits != end_ >> kBlockBits;
    if (--block_of(at).waiting == 0 && full) free_block(at);
}

void RoundQueue::free_block(std::uint64_t at) {
    spare_blocks_.push_back(std::exchange(blocks_[(at >> kBlockBits) - first_block_], nullptr));
    while (!blocks_.empty() && !blocks_.front()) {
        blocks_.pop_front();
        ++first_block_;
    }
}

void RoundQueue::add_stable(std::uint64_t time, Bytes record, std::uint32_t event) {
    add({time, record.data(), event, kStable, false});
}

// Copies are aligned to 8 bytes, as records in a file are, because decoders may load whole words.
void RoundQueue::add_copy(std::uint64_t time, Bytes record, std::uint32_t event) {
    const std::uint32_t which = chunk_with_room(record.size());
    Chunk& chunk = chunks_[which];
    std::byte* copy = chunk.bytes.data() + chunk.used;
    std::memcpy(copy, record.data(), record.size());
    chunk.used += (record.size() + 7) & ~std::size_t{7};
    ++chunk.waiting;
    add({time, copy, event, which, false});
}

std::uint32_t RoundQueue::chunk_with_room(std::size_t size) {
    const std::size_t needed = (size + 7) & ~std::size_t{7};
    if (current_ == kStable || kChunk - chunks_[current_].used < needed) current_ = take_chunk();
    return current_;
}

std::span<std::byte> RoundQueue::begin_chunk() {
    const std::uint32_t last = std::exchange(reading_, kStable);
    if (last != kStable && chunks_[last].waiting == 0) free_chunk(last);
    if (copied_ >= kMostRead) return {};
    reading_ = take_chunk();
    return chunks_[reading_].bytes;
}

void RoundQueue::add_read(std::uint64_t time, Bytes record, std::uint32_t event) {
    ++chunks_[reading_].waiting;
    add({time, record.data(), event, reading_, false});
}

std::uint32_t RoundQueue::take_chunk() {
    auto free = std::ranges::find_if(chunks_, &Chunk::is_free);
    if (free == chunks_.end()) {
        chunks_.push_back({take_memory(kChunk)});
        free = std::prev(chunks_.end());
    }
    free->used = 0;
    free->is_free = false;
    copied_ += kChunk;
    return static_cast<std::uint32_t>(free - chunks_.begin());
}

std::span<std::byte> RoundQueue::take_memory(std::size_t size) {
    if (left_ < size) {
        memory_.emplace_back();
        left_ = kLargePage;
    }
    left_ = (left_ - size) & ~(alignof(Block) - 1);
    return memory_.back().bytes().subspan(left_, size);
}

void RoundQueue::free_chunk(std::uint32_t chunk) {
    chunks_[chunk].is_free = true;
    copied_ -= kChunk;
    if (current_ == chunk) current_ = kStable;
}

void RoundQueue::release(std::uint32_t chunk) {
    if (chunk != kStable && --chunks_[chunk].waiting == 0 && chunk != reading_) free_chunk(chunk);
}

/// Puts another head in the place of the first, and moves it down to where it belongs in the heap.
void RoundQueue::replace_first(Head head) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heads_.size(); child = 2 * at + 1) {
        if (child + 1 < heads_.size() && is_before(heads_[child + 1], heads_[child])) ++child;
        if (!is_before(heads_[child], head)) break;
        heads_[at] = heads_[child];
        at = child;
    }
    heads_[at] = head;
}

// The lowest address, not the oldest time: memory of the file is given back in the order of the file. Of each run the
// first record in `memory` has it.
const std::byte* RoundQueue::lowest_in(Bytes memory) const {
    const std::byte* lowest = nullptr;
    const std::byte* end = memory.data() + memory.size();
    for (const Head& head : heads_)
        for (std::uint64_t at = head.at; at < end_; ++at) {
            const Entry& entry = entry_at(at);
            if (entry.chunk == kStable && entry.record >= memory.data() && entry.record < end) {
                if (!lowest || entry.record < lowest) lowest = entry.record;
                break;
            }
            if (entry.ends_run) break;
        }
    return lowest;
}

}  // namespace anyperf::perfdata
