// log.h: what the engine tells those who debug it, where ANYPERF_ENGINE_LOG asks for it: a line each, "PID TID KIND …",
// appended to a file at once, so that nothing is lost when a process ends badly.
#pragma once

#include "engine/engine.h"
#include "engine/freestanding/text.h"
#include "engine/log_kinds.h"
#include "engine/syscalls/table.h"

namespace anyperf::engine {

inline bool log_wants(const Engine& engine, std::uint32_t kind) {
    return engine.run != nullptr && (engine.run->log_kinds & kind) != 0;
}

/// A line of this thread's that begins as all do.
Line log_line(const Thread& thread, std::string_view kind);
void log_write(const Thread& thread, Line& line);

/// A new translation; with log::kCode also each instruction, with what became of it.
void log_block(const Thread& thread, const Block& block);
void log_link(const Thread& thread, const Exit& exit, const Block& to);
void log_syscall(const Call& call, long answer);

}  // namespace anyperf::engine
