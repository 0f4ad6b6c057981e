// next_instruction.cpp: see next_instruction.h.
#include "resident/next_instruction.h"

#include <asm/prctl.h>

#include "engine/x86_64/decode.h"
#include "engine/x86_64/effective_address.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::resident {

using namespace engine::x86_64;

namespace {

/// The instruction at registers.rip with its bytes and what its addresses are relative to.
struct Next {
    static constexpr std::size_t kLongest = 15;  // SDM volume 2, 2.3.11

    std::uint8_t code[kLongest] = {};
    Instruction instruction;
    SegmentBases bases;

    explicit Next(const Thread& thread) : bases{0, thread.gs_base} {
        const auto* const at = engine::at_address<const void>(thread.registers.rip);
        const std::size_t size = guarded_prefix(code, at, sizeof code);
        known_ = size != 0 && decode(code, size, instruction) == DecodeStatus::ok;
        if (known_ && instruction.segment == Segment::fs)
            engine::kernel_call(__NR_arch_prctl, ARCH_GET_FS, engine::address_of(&bases.fs));
    }

    bool known() const { return known_; }

  private:
    bool known_ = false;
};

}  // namespace

Accesses next_accesses(const Thread& thread) {
    const Next next{thread};
    return next.known() ? accesses_of(next.instruction, next.code, thread.registers, next.bases) : Accesses{};
}

std::uint64_t address_of_next_access(const Thread& thread) {
    const Next next{thread};
    return next.known() ? accessed_address(next.instruction, next.code, thread.registers, next.bases) : 0;
}

}  // namespace anyperf::resident
