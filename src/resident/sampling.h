// sampling.h: what an overflow does on the thread that overflowed: a sample into the ring, a signal, a wake-up.
#pragma once

#include <cstddef>
#include <span>

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// What a sample has beyond the thread's registers and clocks.
struct Told {
    std::span<const std::byte> raw;
    bool in_kernel = false;  ///< it is of kernel mode, of which a run knows no addresses
};

/// An event that is made to happen (Source::happenings) has, at the thread's registers: counts it, and does what is
/// due.
void happen(Thread& thread, EventPage& event, EventIndex index, const Told& told = {});

/// Takes every overflow that is due for `event`, at the thread's registers. False: the event counts no longer, because
/// its limit has run out.
bool take_overflows(Thread& thread, EventPage& event, EventIndex index, const Told& told = {});

}  // namespace anyperf::resident
