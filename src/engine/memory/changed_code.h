// changed_code.h: code that the application writes. A page that may be written and has been translated from is
// write-protected in the kernel, unlike what the application asked for; a write to it faults, its translations go, and
// it may be written again until it is translated from the next time.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

enum class Guard : std::uint8_t {
    as_it_was,   ///< nothing was to be done: what has been read of these pages still holds
    begun,       ///< some page is protected from now on: what has been read of it may be old
    impossible,  ///< the kernel refuses to protect one (ENOMEM: too many mappings)
};

/// Protects the writable pages of [start, end), from which a block is translated.
/// Precondition: the cache's lock is held.
Guard guard_code(Engine& engine, std::uint64_t start, std::uint64_t end);

/// If `address` is in a page that guard_code protects: drops what was translated from it and lets it be written.
/// Runs in the signal handler. Precondition: the cache's lock is held. False where the page is none of ours.
bool open_written_code(Engine& engine, std::uint64_t address);

/// The same for every protected page, before a system call that writes memory is tried again. False where there is
/// none.
bool open_all_code(Engine& engine);

}  // namespace anyperf::engine
