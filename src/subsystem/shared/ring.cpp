// ring.cpp: three parties. Writers are measured threads and the broker; RingPage::lock admits one at a time. The reader
// is any program that has mapped the ring; it takes no lock, reads data_head and writes data_tail. What a writer relies
// on is in RingPage, which is not in a reader's mapping: the header's data_head is a copy of `head` there. A reader
// that overwrites the header can cause the loss of records, but cannot make a writer leave the ring.
#include "subsystem/shared/ring.h"

#include "abi/attr_flags.h"
#include "abi/records.h"

namespace anyperf::subsystem {
namespace {

constexpr std::uint32_t kLost = 2;
static_assert(abi::name_of(abi::kRecordTypes, kLost) == "PERF_RECORD_LOST");
constexpr std::size_t kLostBytes = sizeof(RecordHeader) + 16;

constexpr std::uint64_t kHeaderCapabilities = abi::capability("cap_bit0_is_deprecated");

/// One byte must stay free, because a full ring would look like an empty one. A reader may have written anything into
/// data_tail; then the answer may be wrong, but writes stay within the ring.
bool has_room(const Ring& ring, std::size_t bytes) {
    // As the kernel's ring_buffer_has_space(): the difference modulo the size, which is a power of two.
    if (ring.page->overwrite) return true;
    const std::uint64_t tail = __atomic_load_n(&ring.header().data_tail, __ATOMIC_ACQUIRE);
    const std::uint64_t head = ring.page->head;
    const std::uint64_t ahead = ring.page->backward ? head - tail - 1 : tail - head - 1;
    return (ahead & (ring.bytes() - 1)) >= bytes;
}

void drop(const Ring& ring, EventPage& event) {
    ++ring.page->lost;
    ++event.lost;
}

}  // namespace

void start_ring(Ring ring, const RingShape& shape) {
    RingPage& page = *ring.page;
    page.pages = shape.pages;
    page.head = page.lost = page.wake_mark = page.locked_out = 0;
    page.samples = page.wake_pending = 0;
    page.overwrite = shape.overwrite;
    page.backward = shape.backward;
    // Without data pages nothing can be written, and nothing counts as lost.
    page.paused = shape.pages == 0;
    page.watermark = shape.watermark < ring.bytes() ? shape.watermark : ring.bytes();
    if (page.watermark == 0) page.watermark = ring.bytes() / 2;

    abi::MmapPage& header = ring.header();
    header.capabilities = kHeaderCapabilities;
    header.size = offsetof(abi::MmapPage, reserved);
    header.data_offset = kRingPageBytes;
    header.data_size = ring.bytes();
    header.data_head = header.data_tail = 0;
}

// The other side of the seqlock that abi/mmap_page.h describes: odd while the fields change.
void publish(abi::MmapPage& header, const HeaderTimes& times) {
    __atomic_fetch_add(&header.lock, 1, __ATOMIC_ACQ_REL);  // no store below may move before it
    if (times.readable) header.capabilities |= abi::capability("cap_user_rdpmc");
    if (times.readable) header.pmc_width = kCounterBits;
    header.index = times.index;
    header.offset = times.offset;
    header.time_enabled = times.enabled;
    header.time_running = times.running;
    __atomic_fetch_add(&header.lock, 1, __ATOMIC_RELEASE);
}

// A LOST record and the new one are reserved together: a reader must not see one without the other.
bool RingWriter::begin(std::size_t bytes) {
    RingPage& page = *ring_.page;
    if (page.paused) {
        if (page.pages != 0) drop(ring_, event_);
        return false;
    }
    writes_lost_record_ = page.lost != 0;
    const std::size_t all = bytes + (writes_lost_record_ ? kLostBytes + trailer_bytes(event_.shape) : 0);
    // `all` equal to the ring's size would leave no byte free.
    if (bytes > kLongestRecord || all >= ring_.bytes() || !has_room(ring_, all)) {
        drop(ring_, event_);
        return false;
    }
    head_ = page.backward ? page.head - all : page.head + all;
    sink_ = Sink{ring_.data(), ring_.bytes(), page.backward ? head_ : page.head};
    if (writes_lost_record_) put_lost();
    return true;
}

/// The LOST record names the event that writes now, or the parent of an inherited one: `id` is the parent's.
void RingWriter::put_lost() {
    const std::size_t size = kLostBytes + trailer_bytes(event_.shape);
    const RecordHeader header{kLost, 0, static_cast<std::uint16_t>(size)};
    sink_.put(&header, sizeof header);
    sink_.word(event_.id);
    sink_.word(ring_.page->lost);
    put_trailer(sink_, event_.shape, moment_, event_.id, event_.id);
}

/// The distance from 0 grows in both directions: backward, positions count down from 0.
bool RingWriter::passes_watermark() {
    RingPage& page = *ring_.page;
    const std::uint64_t written = page.backward ? -head_ : head_;
    if (written - page.wake_mark <= page.watermark) return false;
    page.wake_mark += page.watermark;
    return true;
}

/// wakeup_events counts the samples of all events that share the ring.
bool RingWriter::reaches_wakeup_events() {
    const bool by_bytes = event_.shape.flags & abi::flag("watermark");
    if (by_bytes || event_.shape.wakeup == 0) return false;
    RingPage& page = *ring_.page;
    if (++page.samples < event_.shape.wakeup) return false;
    page.samples -= event_.shape.wakeup;
    ++page.wake_mark;  // the kernel wakes pollers by moving this mark
    return true;
}

// data_head is stored last, with release order: a reader that sees it sees the whole record.
WriteResult RingWriter::commit(bool is_sample) {
    RingPage& page = *ring_.page;
    const bool by_bytes = passes_watermark();
    const bool by_samples = is_sample && reaches_wakeup_events();
    if (writes_lost_record_) page.lost = 0;
    page.head = head_;
    // Page first: if a writer dies between the two stores, readers see its record once the next one is committed.
    __atomic_store_n(&ring_.header().data_head, head_, __ATOMIC_RELEASE);
    const bool wake = by_bytes || by_samples;
    if (wake) __atomic_store_n(&page.wake_pending, 1, __ATOMIC_RELEASE);
    return {.written = true, .wake = wake};
}

WriteResult write_record(Ring ring, EventPage& event, const RecordOrigin& moment, RecordHeader header,
                         std::span<const std::byte> body) {
    const std::size_t size = sizeof header + body.size() + trailer_bytes(event.shape);
    RingWriter writer{ring, event, moment};
    if (!writer.begin(size)) return {};
    header.size = static_cast<std::uint16_t>(size);
    writer.sink().put(&header, sizeof header);
    writer.sink().put(body.data(), body.size());
    put_trailer(writer.sink(), event.shape, moment, event.id, event.stream_id);
    return writer.commit(false);
}

}  // namespace anyperf::subsystem
