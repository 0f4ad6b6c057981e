// tasks.h: reports the start and end of processes and threads to the broker. The thread waits for the answer before it
// goes on. Nothing is reported until an event has been opened in the run: before that no record or count could depend
// on it.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// The thread is the first one of its process, which is a new program if `executed`, else the child of a fork. Resets
/// what the agent must not keep from the parent, or from before the exec.
void begin_process(engine::Thread& thread, bool executed);

/// The process is about to execute the program `name`. An empty name reports that the announced exec has failed.
void announce_exec(engine::Thread& thread, std::string_view name);

/// The thread is new in its process, or is the child of a vfork.
void begin_thread(engine::Thread& thread);

/// The thread is about to make a child with these flags of clone(2) and this thread page. Returns the number by which
/// the child claims what it inherits (Thread::inheritance); 0 if it inherits nothing.
std::uint32_t announce_child(engine::Call& call, std::uint64_t clone_flags, std::uint32_t page);

/// The child has the id `tid`; a negated errno means that it could not be made. `inheritance` is what announce_child()
/// returned.
void report_child(engine::Call& call, std::uint32_t inheritance, long tid);

/// The thread ends, or the whole process if `whole_process`. Frees what the agent has for it.
void end_thread(engine::Thread& thread, bool whole_process);

/// Frees what the agent has for the child of a vfork, which has ended or become another program. Called by its parent.
void discard_thread(engine::Thread& thread);

}  // namespace anyperf::agent
