// switches.h: context switches of a thread, for events that record them (attr.context_switch). Nobody tells a program
// when it loses its CPU: but the kernel counts (getrusage(2), RUSAGE_THREAD), and a thread that waits does so in a
// system call. So a wait is told behind its call, with the time at which that began; that another task was preferred is
// told at the next call. While no event asks, nothing of this is done.
#pragma once

#include "abi/attr_flags.h"
#include "resident/process.h"

namespace anyperf::resident {

/// Of ThreadPage::traced, behind the bits of Happenings.
inline constexpr std::uint32_t kSwitchesTold = 1u << 16;

inline bool records_switches(const subsystem::EventShape& shape) {
    return (shape.flags & abi::flag("context_switch")) != 0;
}

/// From now on, or no longer.
void tell_switches(engine::Thread& thread, bool told);

/// A new task, which has just got a CPU for the first time.
void begin_on_cpu(engine::Thread& thread);

/// At a system call's begin, or behind it.
void look_for_switches(engine::Thread& thread, bool behind_call);

}  // namespace anyperf::resident
