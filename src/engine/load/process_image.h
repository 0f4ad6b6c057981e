// process_image.h: the last step of an execve in the engine: gives the process the program's image, loader, stack,
// break and name.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/load/program_file.h"
#include "engine/load/start_stack.h"

namespace anyperf::engine {

/// Maps `file` and its loader, rewrites the stack without its first `dropped` arguments, which are the engine's own,
/// and sets `registers` to those of the program's first instruction. Closes `file` unless it fails. The error is a
/// positive errno.
std::expected<void, long> become_program(Engine& engine, ProgramFile& file, const char* path, const StartStack& stack,
                                         std::uint64_t dropped, x86_64::Registers& registers);

}  // namespace anyperf::engine
