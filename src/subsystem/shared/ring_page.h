// ring_page.h: what the writers of a ring share: where it is and how far it is written. Readers see the ring itself
// (perf_event_mmap_page and data pages, perf_event_open(2) "MMAP layout") and may write there, so writers keep their
// own state here. Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

struct alignas(128) RingPage {
    PageLock lock;  ///< held while a record is written: several tasks may share a ring
    /// Of data: a power of two, or 0 for a header page alone. With offset 0 too there is no ring.
    std::uint32_t pages = 0;
    std::uint64_t offset = 0;        ///< bytes, of the header page in the shared memory
    std::uint64_t head = 0;          ///< data_head as writers know it; readers can't change it
    std::uint64_t lost = 0;          ///< records dropped since the last LOST record
    std::uint64_t watermark = 0;     ///< bytes between wake-ups
    std::uint64_t wake_mark = 0;     ///< the next wake-up is due when head is more than `watermark` past this position
    std::uint32_t overwrite = 0;     ///< mapped read-only: old records are overwritten, none is lost
    std::uint32_t backward = 0;      ///< attr.write_backward
    std::uint32_t paused = 0;        ///< IOC_PAUSE_OUTPUT
    std::uint32_t wake_pending = 0;  ///< a wake-up that no poll has reported yet
    std::uint32_t samples = 0;       ///< of all events that write here, since the last wake-up by wakeup_events
    std::uint64_t locked_out = 0;    ///< records dropped because the lock could not be had; in no LOST record
};
static_assert(sizeof(RingPage) == 128);

}  // namespace anyperf::subsystem
