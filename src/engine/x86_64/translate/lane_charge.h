// lane_charge.h: translated code that subtracts from a lane of a thread, and leaves where the lane has less. The lanes
// of a budget (count.cpp) and of a turn's steps (steps.h) are charged so.
//
// Where no flag is alive:
//
//   65 48 83 2c 25 LANE N        sub  $N, %gs:LANE             16 bytes, or 19 where N is above 127
//   0f 88 STUB                   js   STUB
//
// If a flag may be read later, the same without a flag. The lane's upper half is all ones once the lane is negative,
// and never if it is not. Adding 1 to all ones gives zero, which jrcxz tests without using the flags:
//
//   mov  rcx, %gs:SPILL          mov  %gs:LANE, rcx            lea  -N(rcx), rcx         mov  rcx, %gs:LANE
//   mov  %gs:LANE+4, ecx         lea  1(ecx), ecx              jrcxz NEGATIVE
//   mov  %gs:SPILL, rcx          jmp  BODY
//   NEGATIVE:                    mov  %gs:SPILL, rcx           jmp  STUB
//   BODY:
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/x86_64/cpu/thread.h"
#include "engine/x86_64/translate/emitter.h"

namespace anyperf::engine::x86_64 {

/// `lane`: its offset in Thread. `stub`: where the code leads that does not fit; the charge is undone there. The last
/// four bytes that have been written are then the distance to `stub`.
inline void emit_lane_charge(Emitter& hot, std::size_t lane, std::int32_t amount, bool flags_dead,
                             const std::uint8_t* stub) {
    constexpr std::size_t kSpilledRcx = offsetof(Thread, spill) + std::size_t{8} * rcx;
    if (flags_dead) {
        hot.sub_gs(lane, amount);
        hot.jcc(Condition::sign, stub);
        return;
    }
    hot.store_gs(rcx, kSpilledRcx);
    hot.load_gs(rcx, lane);
    hot.lea(rcx, rcx, -amount);
    hot.store_gs(rcx, lane);
    hot.load_gs32(rcx, lane + 4);
    hot.lea32(rcx, rcx, 1);
    std::uint8_t* const negative = hot.jrcxz_forward();
    hot.load_gs(rcx, kSpilledRcx);
    std::uint8_t* const body = hot.jmp_forward();
    hot.bind(negative);
    hot.load_gs(rcx, kSpilledRcx);
    hot.jmp(stub);
    hot.bind(body);
}

}  // namespace anyperf::engine::x86_64
