// ring_page.h: what the writers of a ring buffer share: where it lies and how far it is written. The rest is in the
// ring itself, as its readers see it (perf_event_mmap_page and data pages, perf_event_open(2) "MMAP layout").
// Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

struct alignas(128) RingPage {
    PageLock lock;                ///< held while a record is written: tasks on several CPUs may share a ring
    std::uint32_t pages = 0;      ///< of data: a power of two, or 0 for a header alone; 0 with offset 0: no ring
    std::uint64_t offset = 0;     ///< of the header page in the shared memory, bytes
    std::uint64_t head = 0;       ///< data_head without what a reader may have done to it
    std::uint64_t lost = 0;       ///< records dropped since the last LOST record
    std::uint64_t watermark = 0;  ///< bytes between wake-ups by watermark
    std::uint64_t wake_at = 0;    ///< position of head that the next one lies behind
    std::uint32_t overwrite = 0;  ///< mapped read-only: old records are overwritten, nothing is lost
    std::uint32_t backward = 0;   ///< attr.write_backward
    std::uint32_t paused = 0;     ///< IOC_PAUSE_OUTPUT
    std::uint32_t wake = 0;       ///< a wake-up that nobody has been told of
    std::uint64_t lost_id = 0;    ///< id of the event that lost last
    std::uint32_t samples = 0;    ///< since the last wake-up by wakeup_events, of all events that write here
};
static_assert(sizeof(RingPage) == 128);

}  // namespace anyperf::subsystem
