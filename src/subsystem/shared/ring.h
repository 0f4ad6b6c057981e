// ring.h: writes records into a ring buffer as the kernel does (perf_event_open(2), "MMAP layout" and "Overflow
// handling"; __perf_output_begin() and perf_output_put_handle() of Linux 6.18; measured where the manual is silent):
//
//   - data_head grows by the sizes of records and never wraps. A byte's place is its position modulo the ring's size.
//   - A record is written only if one byte stays free after it. Otherwise it is dropped and counted. The next record
//     that fits is preceded by a LOST record, and both must fit.
//   - A ring that is mapped without PROT_WRITE overwrites its oldest records and loses none.
//   - Backward, data_head decreases from 0, and the newest record begins at it.
//   - A wake-up is due when head is more than `watermark` bytes past the last mark, which then moves by the watermark;
//     and at each wakeup_events-th sample.
//
// Freestanding, as event_page.h. The caller of any function here holds the ring's lock, but for drop_locked_out().
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
    std::byte* memory = nullptr;   ///< the header page, followed by the data
    std::uint64_t data_bytes = 0;  ///< mapped here: a power of two, or 0. RingPage::pages may have been overwritten

    abi::MmapPage& header() const { return *reinterpret_cast<abi::MmapPage*>(memory); }
    std::byte* data() const { return memory + kRingPageBytes; }
    std::uint64_t bytes() const { return data_bytes; }
};

/// A ring's properties, from its event's attr and the first mmap.
struct RingShape {
    std::uint32_t pages = 0;      ///< of data: a power of two, or 0 for a header page alone
    std::uint64_t watermark = 0;  ///< bytes; 0: half the ring. Cut to the ring's size
    bool overwrite = false;
    bool backward = false;
};

/// Makes an empty ring with head 0. RingPage::lock and ::offset stay. The header page must be zero.
void start_ring(Ring ring, const RingShape& shape);

/// Counts a record that is dropped because the ring's lock cannot be had. Several writers may be here at a time.
inline void drop_locked_out(const Ring& ring, EventPage& event) {
    ++event.lost;
    __atomic_fetch_add(&ring.page->locked_out, 1, __ATOMIC_RELAXED);
}

/// The header page's data about its event, for readers that do without read(2).
struct HeaderTimes {
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
    std::uint32_t index = 0;  ///< for rdpmc; 0: not available now
    std::int64_t offset = 0;  ///< the count, if index is 0; else what is to be added to the value that rdpmc has
    bool readable = false;    ///< the thread that counts the event may use rdpmc
};

/// The bits of a counter, as rdpmc reads it. So no count of a program wraps around.
inline constexpr unsigned kCounterBits = 64;

/// Writes the header page under its sequence lock: the number is odd while the fields change.
void publish(abi::MmapPage& header, const HeaderTimes& times);

struct WriteResult {
    bool written = false;  ///< otherwise the record was dropped, and counted in the ring and in the event
    bool wake = false;     ///< the ring's pollers must be woken; RingPage::wake_pending is set
};

/// One record being written. Readers see nothing of it before commit(), so a writer that dies before has written
/// nothing.
class RingWriter {
  public:
    /// `event` writes the record: it counts a loss, and its sample_type shapes the trailer of a LOST record.
    RingWriter(Ring ring, EventPage& event, const RecordOrigin& moment) : ring_(ring), event_(event), moment_(moment) {}

    /// Reserves `bytes` for the record, and writes a LOST record first if records were dropped. False: the record was
    /// dropped and counted, because the ring is full or paused, or the record is longer than the ring or
    /// kLongestRecord. A ring without data pages counts nothing.
    bool begin(std::size_t bytes);

    /// Where the caller puts exactly the reserved bytes, after begin() has returned true.
    Sink& sink() { return sink_; }

    /// Makes the record visible to readers. Only samples count towards wakeup_events.
    WriteResult commit(bool is_sample);

  private:
    void put_lost();
    bool passes_watermark();
    bool reaches_wakeup_events();

    Ring ring_;
    EventPage& event_;
    RecordOrigin moment_;
    Sink sink_;
    std::uint64_t head_ = 0;  ///< the ring's head after commit()
    bool writes_lost_record_ = false;
};

/// Writes a whole record other than SAMPLE: adds the trailer and fills in the size. `body` is a multiple of 8 bytes.
WriteResult write_record(Ring ring, EventPage& event, const RecordOrigin& moment, RecordHeader header,
                         std::span<const std::byte> body);

}  // namespace anyperf::subsystem
