// fault_counts.h: the page faults of the application's own code, counted where the thread enters and leaves translated
// code.
#pragma once

#include <cstdint>

#include "agent/process.h"

namespace anyperf::agent {

/// The thread is about to enter translated code: its faults count from here on.
void begin_counting_page_faults(engine::Thread& thread);

/// What the thread counts is about to change: adds the faults of a quiet visit (engine/memory/page_faults.h).
void end_quiet_counting(engine::Thread& thread);

/// The thread has left translated code, which is to continue at `next`: adds the faults since it entered, and those of
/// the code at `next`. Handles the overflows that they make due.
void add_page_faults(engine::Thread& thread, std::uint64_t next);

}  // namespace anyperf::agent
