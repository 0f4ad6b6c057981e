// overflow_budget.h: how many instructions a thread may run before one of its events overflows (sampling.h, "From
// budget to record").
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::agent {

/// The budget is used up: handles the overflows that are due here, then grants the budget up to the next one.
void grant_next_budget(engine::Thread& thread);

/// A program or thread begins: its pace of modelled cycles is computed from here on.
void begin_pace(engine::Thread& thread);

/// A bit of ThreadPage::traced, above those of OccurrenceKind: an active event samples a source that system calls add
/// to (Source::syscall_terms), so the thread looks for an overflow after each system call.
inline constexpr std::uint32_t kCheckAfterSyscall = 1u << 17;

/// Takes the thread's budget away, so that its events are checked for overflows before it runs another block. To be
/// called after a system call has retired: precise samples then name its instruction.
void check_after_syscall(engine::Thread& thread);

}  // namespace anyperf::agent
