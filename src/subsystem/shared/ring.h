// ring.h: writing into a ring buffer as the kernel does (perf_event_open(2), "MMAP layout" and "Overflow handling";
// __perf_output_begin() and perf_output_put_handle() of Linux 6.18, measured where the manual is silent):
//
//   - data_head grows by the sizes of records and never wraps; the place of a byte is its position modulo the ring.
//   - A record is written only if a byte stays free behind it. Else it is dropped and counted; the next record that
//     finds room is preceded by a LOST record, and needs room for both.
//   - Mapped without PROT_WRITE the ring overwrites its oldest records, and loses none.
//   - Backward, data_head falls from 0, and the newest record starts at it.
//   - A wake-up is due when head has passed more than `watermark` bytes beyond the last mark, which then moves by the
//     watermark; and at every wakeup_events-th sample.
//
// Freestanding, as event_page.h. Whoever calls any of this holds the ring's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "abi/mmap_page.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/ring_page.h"
#include "subsystem/shared/sample_id.h"
#include "subsystem/shared/sink.h"

namespace anyperf::subsystem {

inline constexpr std::size_t kRingPageBytes = 4096;

/// A ring as one process sees it.
struct Ring {
    RingPage* page = nullptr;
    std::byte* memory = nullptr;  ///< the header page, and the data behind it

    abi::MmapPage& header() const { return *reinterpret_cast<abi::MmapPage*>(memory); }
    std::byte* data() const { return memory + kRingPageBytes; }
    std::uint64_t bytes() const { return std::uint64_t{page->pages} * kRingPageBytes; }
};

/// How a ring is to be; what an event's attr and its mmap say.
struct RingShape {
    std::uint32_t pages = 0;      ///< of data: a power of two, or 0
    std::uint64_t watermark = 0;  ///< bytes; 0: half the ring, and at most the ring
    bool overwrite = false;
    bool backward = false;
};

/// A ring that is empty, at head 0. Keeps RingPage's lock and offset, and the header's place in memory; the header page
/// was zeroes.
void start_ring(Ring ring, const RingShape& shape);

/// What the header page says of its event for readers that do without read(2).
struct HeaderTimes {
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
    std::uint32_t index = 0;  ///< 0: not to be read with rdpmc
    std::int64_t offset = 0;  ///< the count while index is 0
};

/// Under the header's sequence lock, which is even before and after.
void publish(abi::MmapPage& header, const HeaderTimes& times);

struct Written {
    bool written = false;  ///< else it was dropped, and counted in the ring and in the event
    bool wake = false;     ///< the ring's pollers are to be woken; RingPage::wake is set as well
};

/// A record on its way into a ring. Nothing of it is seen before commit(), and a writer who dies on the way has written
/// nothing.
class RingWriter {
  public:
    /// `event` is who writes: a loss is counted there, and its sample_type shapes the trailer of a LOST record.
    RingWriter(Ring ring, EventPage& event, const Moment& moment) : ring_(ring), event_(event), moment_(moment) {}

    /// Makes room for a record of `bytes` in all, and writes a LOST record before it where one is owed. False: it is
    /// dropped and counted, because it finds no room, is longer than any record may be, or the ring is paused.
    bool begin(std::size_t bytes);

    /// Where the record's bytes go, all of those asked for, after begin() has found room.
    Sink& sink() { return sink_; }

    /// Makes the record visible. Samples count for wakeup_events, other records don't.
    Written commit(bool is_sample);

  private:
    void put_lost();
    bool passes_watermark();
    bool counts_up();

    Ring ring_;
    EventPage& event_;
    Moment moment_;
    Sink sink_;
    std::uint64_t head_ = 0;  ///< what the ring's head becomes
    bool lost_told_ = false;
};

/// A whole record but SAMPLE: header and body as given, the trailer added, the size filled in. `body` is a multiple
/// of 8.
Written write_record(Ring ring, EventPage& event, const Moment& moment, RecordHeader header,
                     std::span<const std::byte> body);

}  // namespace anyperf::subsystem
