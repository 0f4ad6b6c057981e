// shown_ids.h: the ids of processes and threads that programs of a run with turns see.
//
// The kernel's ids depend on what else the machine does, and programs print them, name files by them and hash them. So
// threads are numbered in the order in which they are made, from run::kFirstShownId on, and every call that takes or
// gives an id is translated (syscalls/turns/id_calls.cpp). Records of events have these numbers, too. Everything else
// in the engine and the agent uses the kernel's ids. Ids of processes outside of the run get numbers as well, in the
// order in which programs see them first.
//
// The numbers are above all ids of the kernel. So an id that comes to a program by a way that is not translated still
// works where the program uses it.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine::turns {

using run::Turns;

/// An id that no thread has: the kernel answers ESRCH.
inline constexpr std::int32_t kNoThread = 0x3fffffff;

/// Whether programs of this process see translated ids. Those of another pid namespace have ids of their own there.
inline bool shows_ids(const Turns& turns, const Engine& engine) {
    return turns.pid_namespace == engine.pid_namespace;
}
inline bool shows_ids(const Engine& engine) {
    return engine.turns != nullptr && shows_ids(*engine.turns, engine);
}

/// Gives out the next number. `real` is 0 while the thread does not exist yet.
std::int32_t new_shown_id(Turns& turns, std::int32_t real);
/// The thread of the number exists now.
void name_shown_id(Turns& turns, std::int32_t shown, std::int32_t real);

/// What programs see for the kernel's id. A shown id, 0 and negative numbers are themselves.
std::int32_t shown_of(Turns& turns, std::int32_t real);
/// The same in a process whose programs may see the kernel's ids.
std::int32_t shown_of(const Engine& engine, std::int32_t real);
/// The kernel's id for what a program gives, which may be negative for a group of processes. Other numbers are
/// themselves.
std::int32_t real_of(const Turns& turns, std::int32_t shown);

/// The ids that the thread sees as its own and its process's.
std::int32_t shown_tid(const Thread& thread);
std::int32_t shown_pid(const Thread& thread);
/// Translates the sender's id in what a program learns of a signal.
void show_sender(const Engine& engine, x86_64::SignalInfo& info);

}  // namespace anyperf::engine::turns
