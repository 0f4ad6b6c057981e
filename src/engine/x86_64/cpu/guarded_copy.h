// guarded_copy.h: access to memory that the application has named and that may not be there, or may be unmapped by
// another thread at any time. Nothing else in the engine may touch such memory.
//
// Each routine that may fault is a known range of code. The engine's signal handler looks up the address of a fault
// there and continues at a fixup, so that the routine returns false, as the kernel's exception tables do for
// copy_from_user().
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine::x86_64 {

/// Copies `bytes` bytes. False if one could not be read or written; those before it have been copied.
bool guarded_copy(void* to, const void* from, std::size_t bytes);

/// Reads a value at an address of the application, or writes one there. False if that is not possible.
template <class T>
bool guarded_read(std::uint64_t address, T& out) {
    return guarded_copy(&out, reinterpret_cast<const void*>(address), sizeof out);
}
template <class T>
bool guarded_write(std::uint64_t address, const T& value) {
    return guarded_copy(reinterpret_cast<void*>(address), &value, sizeof value);
}

/// Copies up to the first byte that can't be read or written. Returns the number of bytes copied.
std::size_t guarded_prefix(void* to, const void* from, std::size_t bytes);

/// Saves the components `features` (bits of XCR0) of the vector state by XSAVE to memory of the application, which is
/// 64-byte aligned. False if it can't be written.
bool guarded_xsave(void* to, std::uint64_t features);

/// The same by FXSAVE, for a CPU or kernel without XSAVE: 512 bytes, 16-byte aligned.
bool guarded_fxsave(void* to);

/// Instructions that save or restore vector state.
enum class StateInstruction : std::uint8_t { xsave, xrstor, xsaveopt, xsavec };

/// Executes one of them on memory of the application, for the components `features`. `wide`: its form with a 64-bit
/// instruction pointer of the x87 unit. False: it has faulted.
bool guarded_state(void* at, std::uint64_t features, StateInstruction which, bool wide);

/// The state of a guarded_run() in progress, shared with the signal handler of the same thread.
struct GuardedRun {
    std::uint64_t stack = 0;  ///< stack pointer to return to after a fault; 0: no guarded run is in progress
    std::uint64_t fault = 0;  ///< set by the signal handler: the address that could not be read
};

/// Calls `work(context)`, which reads application code in many places. Returns false if it faulted: it was then
/// abandoned at that point without running destructors, as by longjmp, so it must leave its data consistent at every
/// read. Not reentrant.
bool guarded_run(GuardedRun& guard, void (*work)(void*), void* context);

/// The address at which the handler lets the thread continue, with GuardedRun::stack as its stack pointer, so that
/// guarded_run() returns false.
std::uint64_t guarded_run_fixup();

/// The address at which a thread that faulted at `rip` continues, if `rip` is in one of the copying or saving routines;
/// 0 otherwise.
std::uint64_t guarded_fixup(std::uint64_t rip);

}  // namespace anyperf::engine::x86_64
