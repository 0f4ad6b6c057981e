// round_queue.h: brings records into the order of time. A recorder empties one ring after the other and then writes
// FINISHED_ROUND, which promises: no later record is older than the newest one before the *previous* mark (perf's
// ordered_events). So what waits is bounded by two rounds.
//
// Why the previous mark: while the recorder empties ring A, CPU B goes on writing. What B writes then is read in this
// round. What A writes then is read only in the next round, though it may be older than B's records. After one more
// round A has been emptied past that moment.
//
// The queue holds pointers where it can: records of a mapped file stay where they are, until Input::release_before()
// gives their memory back. Those of a stream are copied to chunks of 1 MiB, each of which is used again once all of its
// records have been delivered. A file without marks would make the queue grow with the file, so beyond kMostEntries
// records or kMostCopied bytes the older half is delivered without a promise (Summary::late counts what comes too
// late).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "perfdata/cursor.h"

namespace anyperf::perfdata {

class RoundQueue {
  public:
    struct Entry {
        std::uint64_t time;
        const std::byte* record;
        std::uint32_t event;
        std::uint32_t chunk;  // kStable, or the chunk that holds the copy
    };

    /// Queues a record that stays where it is until release_before() allows otherwise.
    void add_stable(std::uint64_t time, Bytes record, std::uint32_t event);
    /// Queues a copy. `record` has at most kLongestRecord bytes.
    void add_copy(std::uint64_t time, Bytes record, std::uint32_t event);

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
    /// Passes on the older half, when too many wait: a file without marks, or with very large rounds. Precondition: the
    /// queue is not empty.
    template <class Deliver>
    void shrink(Deliver&& deliver) {
        sort();
        this->deliver(entries_[entries_.size() / 2].time, deliver);
    }

    bool is_too_large() const { return entries_.size() > kMostEntries || copied_ > kMostCopied; }

    /// The stable record with the lowest address among those that wait and are in `memory`, or null.
    const std::byte* lowest_in(Bytes memory) const;

  private:
    static constexpr std::uint32_t kStable = 0xffff'ffffu;
    static constexpr std::size_t kMostEntries = 1 << 20, kMostCopied = 48 << 20, kChunk = 1 << 20;

    struct Chunk {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size = 0, used = 0, waiting = 0;
    };

    /// Passes on what is not newer than `limit`, in the order of time. The bytes of a copy are valid during the call.
    template <class Deliver>
    void deliver(std::uint64_t limit, Deliver& deliver) {
        sort();
        std::size_t done = 0;
        for (; done < entries_.size() && entries_[done].time <= limit; ++done) {
            deliver(entries_[done]);
            release(entries_[done].chunk);
        }
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(done));
    }
    void add(const Entry& entry);
    void sort();
    void release(std::uint32_t chunk);
    std::uint32_t chunk_with_room(std::size_t size);

    std::vector<Entry> entries_;     // those that wait: first those that sort() has seen, then the new ones
    std::vector<Entry> merged_;      // memory for a pass of sort()
    std::vector<std::size_t> runs_;  // where an ascending run of entries_ begins
    std::vector<Chunk> chunks_;
    std::uint32_t current_ = kStable;       // the chunk that is being filled
    std::size_t copied_ = 0;                // bytes of the chunks in use
    std::uint64_t limit_ = 0, newest_ = 0;  // the newest time at the previous mark, and so far
};

}  // namespace anyperf::perfdata
