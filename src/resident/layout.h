// layout.h: where the memory of a run goes on behind what the engine keeps there (engine/run_state.h): events, rings'
// heads, mailboxes, and the ring buffers themselves. Who serves events and the threads that are measured share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/run_state.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/filter.h"
#include "subsystem/shared/probe.h"
#include "subsystem/shared/ring_page.h"

namespace anyperf::resident {

inline constexpr std::uint32_t kMaximumEvents = 1u << 17;  ///< EventPages, those of inherited events too
inline constexpr std::uint32_t kMaximumRings = 1u << 14;
inline constexpr std::uint32_t kMaximumFilters = 1u << 10;  ///< equal ones count once
inline constexpr std::size_t kMailboxBytes = 32768;

/// In bytes from the start of the memfd; each begins on a page.
inline constexpr std::size_t kEventsOffset = engine::kRunStateBytes;
inline constexpr std::size_t kEventsBytes = sizeof(subsystem::EventPage) * kMaximumEvents;
inline constexpr std::size_t kRingPagesOffset = kEventsOffset + kEventsBytes;
inline constexpr std::size_t kRingPagesBytes = sizeof(subsystem::RingPage) * kMaximumRings;
inline constexpr std::size_t kFiltersOffset = kRingPagesOffset + kRingPagesBytes;
inline constexpr std::size_t kFiltersBytes = sizeof(subsystem::Filter) * kMaximumFilters;
inline constexpr std::size_t kProbesOffset = kFiltersOffset + kFiltersBytes;
inline constexpr std::size_t kProbesBytes = sizeof(subsystem::Probe) * subsystem::kMaximumProbes;
inline constexpr std::size_t kProbeRecordsOffset = kProbesOffset + kProbesBytes;
inline constexpr std::size_t kProbeRecordsBytes =
    (sizeof(subsystem::ProbeRecord) * subsystem::kMaximumProbeRecords + 4095) / 4096 * 4096;
inline constexpr std::size_t kMailboxesOffset = kProbeRecordsOffset + kProbeRecordsBytes;
inline constexpr std::size_t kRingsOffset = kMailboxesOffset + kMailboxBytes * engine::kMaximumThreadPages;

static_assert(kProbesOffset % 4096 == 0 && kProbeRecordsOffset % 4096 == 0);
static_assert(kEventsOffset % 4096 == 0 && kRingPagesOffset % 4096 == 0 && kMailboxesOffset % 4096 == 0);

}  // namespace anyperf::resident
