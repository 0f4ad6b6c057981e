// process_image.h: makes this process the program's: its image, loader, stack, break and name.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/load/program_file.h"
#include "engine/load/start_stack.h"

namespace anyperf::engine {

/// Maps `file` and its loader, rewrites the stack (its first `dropped` arguments are the engine's own) and fills
/// `registers` with those that a program starts with. The error is an errno.
std::expected<void, long> become_program(Engine& engine, ProgramFile& file, const char* path, const StartStack& stack,
                                         std::uint64_t dropped, x86_64::Registers& registers);

}  // namespace anyperf::engine
