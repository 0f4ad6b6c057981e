// guarded_copy.h: memory that the application has named and may not have. The one routine that may fault on it: the
// engine's signal handler sees the address of the fault and lets the copy fail instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine::x86_64 {

/// Copies; false where a byte could not be read or written. What was copied before it stays copied.
bool guarded_copy(void* to, const void* from, std::size_t bytes);

/// Copies byte by byte up to the first that can't be read; how many.
std::size_t guarded_prefix(void* to, const void* from, std::size_t bytes);

/// Saves the vector state with xsave to memory of the application, 64-byte aligned. False where it can't be written.
bool guarded_xsave(void* to, std::uint64_t features);

/// What guarded_run keeps of the engine's state, and what its signal handler tells it.
struct GuardedRun {
    std::uint64_t stack = 0;  ///< where to go back to; 0: nothing runs guarded
    std::uint64_t fault = 0;  ///< the address that could not be read
};

/// Runs `work(context)`, which reads application code in many places. False where the signal handler has ended it by
/// `leave_guarded_run`: then it has done all or a part of what it does, but for what was left to do behind the fault.
bool guarded_run(GuardedRun& guard, void (*work)(void*), void* context);

/// Where the handler is to go on, with `guard.stack` as its stack pointer, so that guarded_run answers false.
std::uint64_t guarded_run_exit();

/// Where a fault at `rip` inside these routines goes on so that they answer false; 0 for any other place.
std::uint64_t guarded_exit(std::uint64_t rip);

}  // namespace anyperf::engine::x86_64
