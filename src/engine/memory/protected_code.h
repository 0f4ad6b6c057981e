// protected_code.h: detects that the application writes code (JITs, self-modifying code). A writable page that a block
// was translated from is write-protected in the kernel. A write to it faults; then its translations are removed, and
// the page is writable until it is translated from again. Writes through another mapping of the same memory, and by
// write(2) to a mapped file (syscalls/file_writes.h), do not fault: such code is compared at each entry instead
// (Cache::keep_code_copy()).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// What protect_code() did.
enum class Protection : std::uint8_t {
    unchanged,   ///< all were protected, or not writable: what was read of these pages before is still valid
    added,       ///< some page is protected only from now on: what was read of it before may be outdated
    impossible,  ///< the kernel refused to protect a page (ENOMEM: too many mappings)
};

/// Write-protects the writable pages of [start, end), from which a block is translated.
/// Precondition: the cache's lock is held.
Protection protect_code(Engine& engine, std::uint64_t start, std::uint64_t end);

/// After a write fault at `address`: if protect_code() protected its page, removes the page's translations and makes it
/// writable. Called in the signal handler. Precondition: the cache's lock is held. False if the fault is the
/// application's own.
bool unprotect_written_code(Engine& engine, std::uint64_t address);

/// The same for the protected pages of [start, end). Precondition: the cache's lock is held.
void unprotect_code(Engine& engine, std::uint64_t start, std::uint64_t end);

/// The same for all protected pages, before a system call that failed with EFAULT is repeated. False if there are none.
/// Takes the cache's lock.
bool unprotect_all_code(Engine& engine);

}  // namespace anyperf::engine
