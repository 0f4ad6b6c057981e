// steps.h: how translated code charges the steps of a thread's turn. What a step is, and why turns are measured in
// steps: engine/turns/turn_length.h.
//
// A step is made by a branch, but its code is in front of the block that the branch leads to: so the branch needs no
// other form, and the code is one subtraction on the way that is taken.
//
//   direct branch that goes back   --> STEP:  sub  $1, %gs:LANE         no flag is alive at the block
//                                             js   EXIT                 ExitReason::step
//   indirect branch --> its entry, above STEP
//   any other branch, the engine   --> HOST:  the block
//
// If a flag may be alive, the subtraction is done in rcx (lane_charge.h). Where an indirect branch makes no step the
// entry is elsewhere and jumps to HOST (Translation::emit_block). A block gets this code if such a branch arrives when
// it is translated; if one arrives later, the block is translated again (block_at.cpp). Branches that come to the
// engine are charged there (dispatch.cpp), which then enters at HOST.
//
// A trace has steps inside. They are charged together at its start, and ways out of it give back those that have not
// been made. If the turn has fewer steps left, the trace is left before its first instruction (kShort), and the engine
// runs a shorter block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/block.h"
#include "engine/x86_64/cpu/thread.h"
#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/translate/emitter.h"

namespace anyperf::engine {
class Arena;
}

namespace anyperf::engine::x86_64 {

/// In the payload of ExitReason::step, beside the block's number: the exit is from the start of a trace whose steps are
/// more than remain.
inline constexpr std::uint32_t kShort = std::uint32_t{1} << 31;

/// The lane that a block charges.
constexpr std::size_t step_lane(BlockId block) {
    return block % TurnLength::kLanes;
}
/// The offset of that lane in Thread.
constexpr std::size_t step_offset(BlockId block) {
    return offsetof(Thread, turn) + offsetof(TurnLength, lane) + sizeof(std::int64_t) * step_lane(block);
}

/// Emits code that charges `steps` to the lane of the block whose number is in `payload`, and leaves to the engine if
/// the lane has fewer. The exit's code goes to `cold`.
void emit_step_charge(Emitter& hot, Emitter& cold, const Arena& arena, std::uint32_t payload, std::size_t steps,
                      bool flags_dead);

/// Whether a call instruction ends right before `pc`: indirect branches to such an address are mostly returns, and make
/// no step. Code that can't be read has no call.
bool follows_call(std::uint64_t pc);

/// Whether the branch makes a step. `classes`: its classes. `to`: where it leads, which does not follow a call if the
/// branch is indirect.
constexpr bool makes_step(ClassSet classes, std::uint64_t from, std::uint64_t to) {
    return (classes & bit(Class::returns)) == 0 && (to <= from || (classes & bit(Class::indirect)) != 0);
}

}  // namespace anyperf::engine::x86_64
