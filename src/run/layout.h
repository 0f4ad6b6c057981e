// layout.h: the memory that the broker and the programs of a run share: two memfds that each of them maps. One has the
// facts (run/facts.h), which only the broker writes: the header, filters and probes. The other is the run memory, which
// all of them write. It begins with the engine's part (run/run_state.h): processes, threads, thread pages. Then comes
// the part of the perf_event subsystem, in arrays of fixed size, and last the ring buffers, which have no fixed places.
// The files are sparse: only pages that were written take memory.
//
// Elements refer to each other by index, never by pointer, because each process maps the memory at another address.
// Index 0 means none; only the number of a thread page may be 0 (kNoPage means none). Who writes what:
//
//   | part         | allocated by | written by                                                                       |
//   |--------------|--------------|----------------------------------------------------------------------------------|
//   | event pages  | broker       | broker and the thread that the event counts, each holding the page's lock        |
//   | ring pages   | broker       | the writer of a record (broker or thread), holding the ring's lock               |
//   | filters      | broker       | broker; threads only read them                                                   |
//   | probes       | broker       | broker; threads only read them                                                   |
//   | mailboxes    | (fixed)      | broker, except `waiting`, which the thread writes (protocol.h)                   |
//   | ring buffers | broker       | records: as the ring page; data_tail: the reader, in the application             |
//
// A mailbox belongs to the thread page of the same number.
//
// Locks are taken in this order: a group's, an event's, a ring's. A thread may be killed at any point, so waiters check
// whether the holder is still alive (lock_holder.h), and a record becomes visible only when it is complete.
//
// The kernel keeps programs from writing the facts. The run memory has no protected part: an index that is read from it
// must be checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/facts.h"
#include "run/run_state.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/filter.h"
#include "subsystem/shared/probe.h"
#include "subsystem/shared/ring_page.h"

namespace anyperf::run {

inline constexpr std::uint32_t kMaximumEvents = 1u << 17;  ///< event pages, including those of inherited events
inline constexpr std::uint32_t kMaximumRings = 1u << 14;
inline constexpr std::uint32_t kMaximumFilters = 1u << 10;  ///< different ones: events with equal filters share one
inline constexpr std::size_t kMailboxBytes = 32768;

/// Where each part of the facts starts, in bytes; each begins on a page.
inline constexpr std::size_t kFiltersOffset = kHeaderBytes;
inline constexpr std::size_t kFiltersBytes = sizeof(subsystem::Filter) * kMaximumFilters;
inline constexpr std::size_t kProbesOffset = kFiltersOffset + kFiltersBytes;
inline constexpr std::size_t kProbesBytes = sizeof(subsystem::Probe) * subsystem::kMaximumProbes;
inline constexpr std::size_t kProbeRecordsOffset = kProbesOffset + kProbesBytes;
inline constexpr std::size_t kProbeRecordsBytes =
    (sizeof(subsystem::ProbeRecord) * subsystem::kMaximumProbeRecords + 4095) / 4096 * 4096;
inline constexpr std::size_t kFactsBytes = kProbeRecordsOffset + kProbeRecordsBytes;

/// Where each part of the run memory starts, in bytes. The ring buffers are from kRingsOffset to the end of the file.
inline constexpr std::size_t kEventsOffset = kRunStateBytes;
inline constexpr std::size_t kEventsBytes = sizeof(subsystem::EventPage) * kMaximumEvents;
inline constexpr std::size_t kRingPagesOffset = kEventsOffset + kEventsBytes;
inline constexpr std::size_t kRingPagesBytes = sizeof(subsystem::RingPage) * kMaximumRings;
inline constexpr std::size_t kMailboxesOffset = kRingPagesOffset + kRingPagesBytes;
inline constexpr std::size_t kRingsOffset = kMailboxesOffset + kMailboxBytes * kMaximumThreadPages;

static_assert(kProbesOffset % 4096 == 0 && kProbeRecordsOffset % 4096 == 0);
static_assert(kEventsOffset % 4096 == 0 && kRingPagesOffset % 4096 == 0 && kMailboxesOffset % 4096 == 0);

}  // namespace anyperf::run
