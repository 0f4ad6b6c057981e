// ring.h: reads a ring buffer of perf events (perf_event_open(2), "MMAP layout").
//
// The writer is the kernel, or programs of a run. Programs share the memory with this process and could write anything
// there at any time. So the records of such a ring are copied before they are looked at, and every position and size is
// checked: a ring with impossible contents is emptied and counted as damaged.
//
// The protocol: `data_head` counts the bytes that were ever written, `data_tail` those that were used; both only grow,
// and a position in the data is such a count modulo the size, a power of two. The reader loads data_head with acquire
// order before the records, and stores data_tail with release order after it has used them (the barriers (A) to (D) in
// perf_output_put_handle(), kernel/events/ring_buffer.c). The writer never overtakes data_tail; it drops the record and
// writes a LOST record later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::recording {

using perfdata::Bytes;

/// A view of a mapping, which must outlive it. The reader's position is kept here as well (`tail_`), so a program that
/// writes data_tail cannot move it.
class Ring {
  public:
    enum class Writer : std::uint8_t { kernel, programs };

    /// `memory` is the whole mapping: the header page and the data pages.
    Ring(std::span<std::byte> memory, Writer writer);

    /// Whole records that lie one after the other. Where the ring's end is among them, in two pieces.
    struct Records {
        Bytes first;
        Bytes second;
        std::uint64_t end = 0;  ///< the position after them

        bool empty() const { return first.empty(); }
    };

    /// The oldest records that were not released, at most `limit` bytes of them but at least one. Calls `each` with
    /// every record in one piece, valid during the call.
    template <class Each>
    Records next(std::size_t limit, const Each& each) {
        const Extent extent = unread();
        std::uint64_t at = extent.begin;
        while (at != extent.end) {
            const std::size_t size = record_size(at, extent.end);
            if (size == 0) {
                drop_all(extent.end);
                break;
            }
            if (at != extent.begin && at + size - extent.begin > limit) break;
            each(in_one_piece(at, size));
            at += size;
        }
        return between(extent.begin, at);
    }
    /// The positions of the oldest record that was not released, and after the newest one.
    std::uint64_t begin() const { return tail_; }
    std::uint64_t end() { return unread().end; }
    /// The header of the record at a position before `end`, and the record in one piece, valid until the next call.
    /// Nothing if the contents are impossible: then all up to `end` was dropped, and begin() is there.
    std::optional<perfdata::RecordHeader> header_at(std::uint64_t at, std::uint64_t end);
    Bytes record_at(std::uint64_t at, std::uint64_t end);
    /// The records up to `end` have been used, and their room may be written again.
    void release(std::uint64_t end);

    /// How often the contents were impossible, and were dropped.
    std::uint64_t damages() const { return damages_; }

  private:
    struct Extent {
        std::uint64_t begin, end;
    };
    /// The positions of what was written and not released.
    Extent unread();
    /// Copies what programs have written since the last copy, up to `end`.
    void copy_new(std::uint64_t end);
    /// The size of the record at a position; 0: impossible.
    std::size_t record_size(std::uint64_t at, std::uint64_t end) const;
    Bytes in_one_piece(std::uint64_t at, std::size_t size);
    Records between(std::uint64_t begin, std::uint64_t end) const;
    void drop_all(std::uint64_t end);

    std::byte* header_;
    std::span<std::byte> data_;
    std::uint64_t tail_ = 0;
    std::uint64_t damages_ = 0;
    std::vector<std::byte> joined_;  ///< a record that wraps
    std::vector<std::byte> copy_;    ///< of `data_`, at the same places; empty if the kernel writes
    std::uint64_t copied_ = 0;       ///< the position up to which it is made
    Bytes records_;                  ///< where records are read: `copy_` or `data_`
};

}  // namespace anyperf::recording
