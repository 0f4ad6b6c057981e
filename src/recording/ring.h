// ring.h: reads a ring buffer of perf events (perf_event_open(2), "MMAP layout").
//
// The writer is the kernel, or programs of a run. Programs share the memory with this process and could write anything
// there at any time. So the records of such a ring are copied before they are read, and every position and size is
// checked: a ring with impossible contents is emptied and counted as damaged.
//
// The protocol: `data_head` counts the bytes that were ever written, `data_tail` those that were used. Both only grow,
// and a position in the data is such a count modulo the size, a power of two. The reader loads data_head with acquire
// order before it reads the records, and stores data_tail with release order after it has used them (the barriers (A)
// to (D) in perf_output_put_handle(), kernel/events/ring_buffer.c). The writer never overtakes data_tail: without room
// it drops the record and writes a LOST record later.
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

/// A view of a mapping, which must outlive it. The reader uses its own copy of its position (`tail_`), so a program
/// that writes data_tail cannot move it.
class Ring {
  public:
    enum class Writer : std::uint8_t { kernel, programs };

    /// `memory` is the whole mapping: the header page and the data pages.
    Ring(std::span<std::byte> memory, Writer writer);

    /// Whole records in their order. They are in two pieces if they continue at the start of the ring's memory.
    struct Records {
        Bytes first;
        Bytes second;
        std::uint64_t end = 0;  ///< the position after them

        bool empty() const { return first.empty(); }
    };

    /// The oldest records that were not released: at least one if there is one, and no more than fit into `limit`
    /// bytes. Calls `each` with every record in one piece, valid during the call.
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
    /// The position of the oldest record that was not released, and the position after the newest record.
    std::uint64_t begin() const { return tail_; }
    std::uint64_t end() { return unread().end; }
    /// The header of the record at a position before `end`, and the record in one piece, valid until the next call.
    /// Nothing if the contents are impossible: then all up to `end` was dropped, and begin() is `end`.
    std::optional<perfdata::RecordHeader> header_at(std::uint64_t at, std::uint64_t end);
    Bytes record_at(std::uint64_t at, std::uint64_t end);
    /// The caller has used the records up to `end`: the writer may overwrite them.
    void release(std::uint64_t end);

    /// How often impossible contents were dropped.
    std::uint64_t damages() const { return damages_; }

  private:
    struct Extent {
        std::uint64_t begin, end;
    };
    /// The positions of what was written and not released, for rings of programs as of the copy that this makes.
    Extent unread();
    /// Copies what programs have written since the last copy, up to `end`.
    void copy_new(std::uint64_t end);
    /// The size of the record at a position; 0: there can be no record.
    std::size_t record_size(std::uint64_t at, std::uint64_t end) const;
    Bytes in_one_piece(std::uint64_t at, std::size_t size);
    Records between(std::uint64_t begin, std::uint64_t end) const;
    void drop_all(std::uint64_t end);

    std::byte* header_;
    std::span<std::byte> data_;
    std::uint64_t tail_ = 0;
    std::uint64_t damages_ = 0;
    std::vector<std::byte> joined_;  ///< the last record that began at the end of the memory and went on at its start
    std::vector<std::byte> copy_;    ///< of `data_`, byte by byte at the same offsets; empty if the kernel writes
    std::uint64_t copied_ = 0;       ///< the position up to which `copy_` is made
    Bytes records_;                  ///< where records are read: `copy_` or `data_`
};

}  // namespace anyperf::recording
