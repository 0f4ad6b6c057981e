// log.h: the engine's log for debugging, selected by ANYPERF_ENGINE_LOG: lines of "PID TID KIND …". Each line is
// appended to the file with one write and nothing is buffered, so that a process that crashes loses nothing.
#pragma once

#include "engine/engine.h"
#include "engine/freestanding/text.h"
#include "engine/syscalls/call.h"
#include "run/log_kinds.h"

namespace anyperf::engine {

/// Whether lines of this kind are to be written. Test it before composing one.
inline bool log_wants(const Engine& engine, std::uint32_t kind) {
    return engine.run != nullptr && (engine.run->log_kinds & kind) != 0;
}

/// A line that begins with the process, the thread and `kind`.
Line log_line(const Thread& thread, std::string_view kind);
/// Appends the line to the log. Failures are ignored.
void log_write(const Thread& thread, Line& line);

/// A new translation; with run::log::kCode also each instruction and its translation.
void log_block(const Thread& thread, const Block& block);
/// An exit that was linked to `to`; nothing if it could not be linked.
void log_link(const Thread& thread, const Exit& exit, const Block& to);
/// A system call with its result. `name`: of the call; empty if this build does not know its number.
void log_syscall(const Call& call, std::string_view name, long answer);

}  // namespace anyperf::engine
