// x87_pointer.h: keeps host addresses out of the x87 instruction pointer (FIP). The CPU records the address of the last
// x87 instruction and stores it with the x87 state; since that instruction was a translation, the stored address is
// replaced by the application's. Not replaced: the pointer of a translation that was freed meanwhile, and the forms
// that store 16 bits of it (66 fnstenv, 66 fnsave).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Called after fnstenv, fnsave, fxsave, xsave or the like at `pc`, `length` bytes long, has run: replaces the pointer
/// in what it stored. The cache's lock must be free.
void fix_stored_x87_pointer(Thread& thread, std::uint64_t pc, std::uint8_t length);

/// The same for the vector state of a signal frame, which xsave64 or fxsave64 wrote at `vector_state`.
void fix_frame_x87_pointer(Thread& thread, std::uint64_t vector_state);

}  // namespace anyperf::engine
