// landing.cpp: see landing.h. No flag is touched: who is not meant here may go on to code that reads them.
#include "engine/x86_64/landing.h"

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/thread.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t spill_of(Register reg) {
    return offsetof(Thread, spill) + std::size_t{8} * reg;
}

/// The word that leads on, and the jump through it, which is returned. rcx is the difference to this block's pc.
const std::uint8_t* emit_other(Emitter& cold, Block& block, std::uint64_t nowhere) {
    while (address_of(cold.at()) % sizeof nowhere != 0) cold.byte(0);
    std::uint8_t* const word = cold.at();
    cold.u64(nowhere);
    block.other = reinterpret_cast<std::uint64_t*>(word);
    const std::uint8_t* const jump = cold.at();
    cold.mov(rdx, block.pc);
    cold.lea_sum(rcx, rcx, rdx);
    cold.jmp_word(word);
    return jump;
}

}  // namespace

void emit_landing(Emitter& code, Emitter& cold, Block& block, std::uint64_t nowhere) {
    const std::uint8_t* const other = emit_other(cold, block, nowhere);
    block.landing = code.at();
    code.mov(rdx, -block.pc);
    code.lea_sum(rcx, rcx, rdx);
    std::uint8_t* const same = code.jrcxz_forward();
    code.jmp(other);
    code.land(same);
    code.load_gs(rdx, spill_of(rdx));
    code.load_gs(rcx, spill_of(rcx));
}

}  // namespace anyperf::engine::x86_64
