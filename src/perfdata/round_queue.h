// round_queue.h: brings records into the order of time. A recorder empties one ring after the other and then writes
// FINISHED_ROUND, which promises: no later record is older than the newest one before the *previous* mark (perf's
// ordered_events). So what waits is bounded by two rounds.
//
// Why the previous mark: while the recorder empties ring A, CPU B goes on writing. What B writes then is read in this
// round. What A writes then is read only in the next round, though it may be older than B's records. After one more
// round A has been emptied past that moment.
//
// The records of one ring are in order. So the queue is a sequence of ascending runs, about one for each ring and
// round, and a heap of their first records has the one that is due. Nothing is moved to sort it: a record is written to
// the sequence once and read once. The sequence is in blocks, each of which is used again once all of its records have
// been delivered, so that memory is neither copied to grow nor given back: both cost page faults.
//
// The queue holds pointers where it can: records of a mapped file stay where they are, until Input::release_before()
// gives their memory back. Those that are read into a chunk of the queue stay there. Those of a stream are copied to
// chunks. A chunk is used again once all of its records have been delivered. A file without marks would make the queue
// grow with the file, so beyond kMostEntries records or kMostCopied bytes the older half is delivered without a promise
// (Summary::late counts what comes too late).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "large_memory.h"
#include "perfdata/cursor.h"

namespace anyperf::perfdata {

class RoundQueue {
    static constexpr std::uint32_t kStable = 0x7fff'ffffu;

  public:
    struct Entry {
        std::uint64_t time;
        const std::byte* record;
        std::uint32_t event;
        std::uint32_t chunk : 31;    // kStable, or the chunk that holds the copy
        std::uint32_t ends_run : 1;  // the next one in the file is older

        bool is_stable() const { return chunk == kStable; }
    };

    /// Queues a record that stays where it is until release_before() allows otherwise.
    void add_stable(std::uint64_t time, Bytes record, std::uint32_t event);
    /// Queues a copy. `record` has at most kLongestRecord bytes.
    void add_copy(std::uint64_t time, Bytes record, std::uint32_t event);

    static constexpr std::size_t kChunk = 256 << 10;
    /// Memory of kChunk bytes to read records into; add_read() queues those without a copy. They may be used until the
    /// next call, and as long as they wait. Empty: so much waits that records should be queued by add_stable().
    std::span<std::byte> begin_chunk();
    void add_read(std::uint64_t time, Bytes record, std::uint32_t event);

    /// Passes to `deliver` the records that no later one can precede, at a FINISHED_ROUND.
    template <class Deliver>
    void end_round(Deliver&& deliver) {
        this->deliver(limit_, deliver);
        limit_ = newest_;
    }
    /// Passes on what is not newer than `time`.
    template <class Deliver>
    void deliver_until(std::uint64_t time, Deliver&& deliver) {
        this->deliver(time, deliver);
    }
    /// Passes on all records that wait, at the end of the file.
    template <class Deliver>
    void end(Deliver&& deliver) {
        this->deliver(~std::uint64_t{0}, deliver);
    }
    /// Passes on the older half, when too many wait: a file without marks, or with very large rounds.
    template <class Deliver>
    void shrink(Deliver&& deliver) {
        const std::size_t left = waiting_ / 2;
        deliver_while([&](const Head&) { return waiting_ > left; }, deliver);
    }

    bool is_too_large() const { return waiting_ > kMostEntries || copied_ > kMostCopied; }

    /// The stable record with the lowest address among those that wait and are in `memory`, or null. Precondition: the
    /// records of `memory` were added in the order of their addresses.
    const std::byte* lowest_in(Bytes memory) const;

  private:
    static constexpr std::size_t kMostEntries = 1 << 20, kMostCopied = 48 << 20, kMostRead = 8 << 20;
    static constexpr std::size_t kBlockBits = 11, kBlock = std::size_t{1} << kBlockBits;

    struct Chunk {
        std::span<std::byte> bytes;  // of memory_
        std::size_t used = 0, waiting = 0;
        bool is_free = true;
    };
    struct Block {
        std::array<Entry, kBlock> entries;
        std::size_t waiting;
    };
    /// The first record of a run that waits: its time, and its place in the sequence of all records.
    struct Head {
        std::uint64_t time;
        std::uint64_t at;
    };
    /// Of two equal times the one that comes first in the file is first.
    static bool is_before(const Head& a, const Head& b) { return a.time < b.time || (a.time == b.time && a.at < b.at); }

    /// Passes on what is not newer than `limit`, in the order of time. The bytes of a copy are valid during the call.
    template <class Deliver>
    void deliver(std::uint64_t limit, Deliver& deliver) {
        deliver_while([limit](const Head& head) { return head.time <= limit; }, deliver);
    }
    template <class IsDue, class Deliver>
    void deliver_while(const IsDue& is_due, Deliver& deliver) {
        while (!heads_.empty() && is_due(heads_.front())) {
            const std::uint64_t at = heads_.front().at;
            const Entry entry = entry_at(at);
            advance(at, entry.ends_run);
            fetch_first();
            deliver(entry);
            release(entry.chunk);
        }
    }
    /// The record that is due next was read some megabytes ago, so it may have left the caches.
    void fetch_first() const {
        constexpr std::size_t kLine = 64, kLines = 4;
        if (heads_.empty()) return;
        const std::byte* record = entry_at(heads_.front().at).record;
        for (std::size_t i = 0; i < kLines; ++i) __builtin_prefetch(record + i * kLine);
    }
    Entry& entry_at(std::uint64_t at) { return block_of(at).entries[at % kBlock]; }
    const Entry& entry_at(std::uint64_t at) const { return block_of(at).entries[at % kBlock]; }
    Block& block_of(std::uint64_t at) const { return *blocks_[(at >> kBlockBits) - first_block_]; }

    void add(const Entry& entry);
    void add_block();
    void advance(std::uint64_t at, bool ends_run);
    void replace_first(Head head);
    void free_block(std::uint64_t at);
    void release(std::uint32_t chunk);
    std::uint32_t chunk_with_room(std::size_t size);
    std::uint32_t take_chunk();
    std::span<std::byte> take_memory(std::size_t size);
    void free_chunk(std::uint32_t chunk);

    // Those of the sequence with records that wait, null for others between them; what is unused.
    std::deque<Block*> blocks_;
    std::vector<Block*> spare_blocks_;
    std::uint64_t first_block_ = 0, end_ = 0;  // of the sequence
    std::size_t waiting_ = 0;
    std::vector<Head> heads_;  // a heap, the first is due first
    // Of the last record in the sequence; whether it still waits, so that the next one may belong to its run.
    std::uint64_t last_time_ = 0;
    bool last_waits_ = false;
    std::vector<Chunk> chunks_;
    // What blocks and chunks are parts of. The last page has memory left at its begin.
    std::vector<LargePage> memory_;
    std::size_t left_ = 0;
    std::uint32_t current_ = kStable;       // the chunk that copies are added to
    std::uint32_t reading_ = kStable;       // that of begin_chunk()
    std::size_t copied_ = 0;                // bytes of the chunks in use
    std::uint64_t limit_ = 0, newest_ = 0;  // the newest time at the previous mark, and so far
};

}  // namespace anyperf::perfdata
