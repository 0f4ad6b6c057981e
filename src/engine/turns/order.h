// order.h: chooses the thread that gets the turn next, and what is done when no thread can run. Only the files of this
// folder include it.
#pragma once

#include "engine/turns/slots.h"

namespace anyperf::engine::turns {

/// The caller has the turn: passes it on. With `self` it may be the next one itself: then nothing is given, and the
/// result is true.
bool pass_on(Engine& engine, std::uint32_t self);

/// The calling thread, which is outside, wants to run. True: it has the turn now.
bool arrive(Engine& engine, std::uint32_t self);

/// Sleeps on the slot's word.
void sleep_on(std::uint32_t& word, std::uint32_t value, std::int64_t ns);

/// Sets a thread's word and wakes it.
void notify(run::TurnSlot& slot, std::uint32_t word);

/// For a thread that has waited for a while: takes the turn from a thread that is gone or stuck, and passes it on.
/// `unchanged` counts the looks since a turn was last given.
void check_holder(Engine& engine, std::uint32_t self, std::uint64_t& last_turns, unsigned& unchanged);

/// Waits until the kernel has taken away the thread that has left.
void await_thread_end(Engine& engine);
/// Waits until a process is gone, a second at most.
void await_process_end(std::int32_t pid);

/// Frees the slots of a process that is gone, and wakes who may have waited for it.
void free_process_slots(Engine& engine, std::int32_t pid);

}  // namespace anyperf::engine::turns
