// x87_pointer.h: the address of the last x87 instruction, which the CPU keeps and stores with the state of its
// registers. It is that of a translation, so it is translated back where it has been stored. What was stored of a
// translation that is no more, and the two forms with 16 bits of it (66 fnstenv, 66 fnsave), stay as they are.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Behind fnstenv, fnsave, fxsave, xsave and their like at `pc`, `length` bytes long: in what it has stored. The
/// cache's lock is free.
void mend_stored_x87_pointer(Thread& thread, std::uint64_t pc, std::uint8_t length);

/// The same in the vector state of a signal frame, which xsave64 has written.
void mend_frame_x87_pointer(Thread& thread, std::uint64_t vector_state);

}  // namespace anyperf::engine
