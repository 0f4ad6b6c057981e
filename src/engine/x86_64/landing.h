// landing.h: where an indirect branch enters a block. All that have the low 16 bits of their target in common come to
// the same entry of the table, and go from landing to landing until one is theirs.
#pragma once

#include <cstdint>

#include "engine/cache/block.h"
#include "engine/x86_64/emitter.h"

namespace anyperf::engine::x86_64 {

/// What an indirect branch borrows: for its target, which jrcxz and loop look at, and one that by the ABI nobody uses
/// across a call or a return and that compilers take late: its way through the spill slot delays nothing.
inline constexpr Register kTarget = rcx;
inline constexpr Register kOther = r11;

/// Writes `landing`: with its pc in kTarget it gives back both, whose values are in their spill slots, and goes on
/// behind itself in `code`; with anything else in it to where the word `landing.other` says, which is `nowhere` until
/// another landing stands there. `by_loop`: loop tells whether it is meant, else jrcxz does (cpuid.h,
/// loop_is_fast).
void emit_landing(Emitter& code, Emitter& cold, Landing& landing, std::uint64_t nowhere, bool by_loop);

}  // namespace anyperf::engine::x86_64
