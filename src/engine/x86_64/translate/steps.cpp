#include "engine/x86_64/translate/steps.h"

#include "engine/cache/arena.h"
#include "engine/freestanding/kernel.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/translate/lane_charge.h"
#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine::x86_64 {

namespace {

/// The length of `call OPERAND` (ff /2) from its ModRM byte on, without an immediate (SDM volume 2, table 2-2).
std::size_t operand_bytes(std::uint8_t modrm, std::uint8_t sib) {
    constexpr std::size_t kDisplacement[] = {0, 1, 4, 0};
    const unsigned mod = modrm >> 6;
    const unsigned rm = modrm & 7u;
    const bool has_sib = mod != 3 && rm == 4;
    const bool has_base = mod != 0 || (has_sib ? sib & 7u : rm) != 5;
    return 1 + (has_sib ? 1 : 0) + (has_base ? kDisplacement[mod] : 4);
}

}  // namespace

void emit_step_charge(Emitter& hot, Emitter& cold, const Arena& arena, std::uint32_t payload, std::size_t steps,
                      bool flags_dead) {
    const std::size_t lane = step_offset(payload & ~kShort);
    const std::uint8_t* const stub = cold.at();
    emit_exit_to_engine(cold, arena, ExitReason::step, payload);
    emit_lane_charge(hot, lane, static_cast<std::int32_t>(steps), flags_dead, stub);
}

bool follows_call(std::uint64_t pc) {
    constexpr std::uint8_t kCall = 0xe8;
    constexpr std::uint8_t kGroup5 = 0xff;
    constexpr std::uint8_t kCallOfGroup = 0x10;
    constexpr std::size_t kDirect = 5;
    constexpr std::size_t kLongest = 7;  // ff /2 with a SIB byte and a disp32
    std::uint8_t code[kLongest + 1] = {};
    if (!guarded_copy(code, at_address<const void>(pc - kLongest), kLongest)) return false;
    if (code[kLongest - kDirect] == kCall) return true;
    for (std::size_t length = 2; length <= kLongest; ++length) {
        const std::uint8_t* const at = code + kLongest - length;
        if (at[0] == kGroup5 && (at[1] & 0x38) == kCallOfGroup && operand_bytes(at[1], at[2]) == length - 1)
            return true;
    }
    return false;
}

}  // namespace anyperf::engine::x86_64
