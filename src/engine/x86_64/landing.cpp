// landing.cpp: see landing.h. No flag is touched: who is not meant here may go on to code that reads them.
#include "engine/x86_64/landing.h"

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/thread.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t spill_of(Register reg) {
    return offsetof(Thread, spill) + std::size_t{8} * reg;
}

/// The word that leads on, and the jump through it, which is returned. rcx is the difference to its pc.
const std::uint8_t* emit_other(Emitter& cold, Landing& landing, std::uint64_t nowhere) {
    while (address_of(cold.at()) % sizeof nowhere != 0) cold.byte(0);
    std::uint8_t* const word = cold.at();
    cold.u64(nowhere);
    landing.other = reinterpret_cast<std::uint64_t*>(word);
    const std::uint8_t* const jump = cold.at();
    cold.mov(kOther, landing.pc);
    cold.lea_sum(kTarget, kTarget, kOther);
    cold.jmp_word(word);
    return jump;
}

/// The one that is meant jumps over the way to the others.
void emit_jrcxz(Emitter& code, Landing& landing, const std::uint8_t* other) {
    landing.host = code.at();
    code.mov(kOther, -landing.pc);
    code.lea_sum(kTarget, kTarget, kOther);
    std::uint8_t* const same = code.jrcxz_forward();
    code.jmp(other);
    code.land(same);
}

/// The one that is meant goes straight on: loop takes the 1 away again, and jumps where something is left.
void emit_loop(Emitter& code, Landing& landing, const std::uint8_t* other) {
    const std::uint8_t* const to_other = code.at();
    code.jmp(other);
    landing.host = code.at();
    code.mov(kOther, 1 - landing.pc);
    code.lea_sum(kTarget, kTarget, kOther);
    code.loop_back(to_other);
}

}  // namespace

void emit_landing(Emitter& code, Emitter& cold, Landing& landing, std::uint64_t nowhere, bool by_loop) {
    const std::uint8_t* const other = emit_other(cold, landing, nowhere);
    by_loop ? emit_loop(code, landing, other) : emit_jrcxz(code, landing, other);
    code.load_gs(kTarget, spill_of(kTarget));
    code.load_gs(kOther, spill_of(kOther));
}

}  // namespace anyperf::engine::x86_64
