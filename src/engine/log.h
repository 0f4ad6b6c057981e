// log.h: the engine's log for debugging. ANYPERF_ENGINE_LOG selects the kinds of its lines, "PID TID KIND …". Each line
// is appended to the log file, or to standard error, by one write. Nothing is buffered, so a process that crashes loses
// nothing.
#pragma once

#include "engine/engine.h"
#include "engine/freestanding/text.h"
#include "engine/syscalls/call.h"
#include "run/log_kinds.h"

namespace anyperf::engine {

/// Whether the log has lines of this kind. Check this before you compose a line.
inline bool log_wants(const Engine& engine, std::uint32_t kind) {
    return engine.run != nullptr && (engine.run->log_kinds & kind) != 0;
}

/// A line that begins with the ids of the process and the thread, and with `kind`.
Line log_line(const Thread& thread, std::string_view kind);
/// Appends the line to the log. Failures are ignored.
void log_write(const Thread& thread, Line& line);

/// Logs a new translation; if kCode is wanted, also each instruction and its translation.
void log_block(const Thread& thread, const Block& block);
/// Logs that the exit was linked to `to`; logs nothing if it could not be linked.
void log_link(const Thread& thread, const Exit& exit, const Block& to);
/// Logs a system call with its result. `name`: the call's name; empty if this build does not know its number.
void log_syscall(const Call& call, std::string_view name, long answer);

// The schedule of a run with turns (`anyperf run --log-schedule`). Its lines are in the order of the turns, because
// only the thread that has the turn writes. They are the same in every run that repeats: "THREAD INSTRUCTIONS WHAT",
// the thread as programs see its id, and how many instructions it has retired.

/// The thread begins the run's turn with this number.
void log_turn(const Thread& thread, std::uint64_t number);
/// The thread has made a call, and gets `answer`. `path`: what the call names; may be empty.
void log_scheduled_call(const Call& call, std::string_view name, std::string_view path, long answer);
/// A signal interrupts the thread.
void log_scheduled_signal(const Thread& thread, int signal);

}  // namespace anyperf::engine
