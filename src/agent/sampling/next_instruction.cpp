#include "agent/sampling/next_instruction.h"

#include <asm/prctl.h>

#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/decode.h"
#include "engine/x86_64/decode/effective_address.h"

namespace anyperf::agent {

using namespace engine::x86_64;

namespace {

/// The instruction at registers.rip: its bytes, decoded, and the segment bases that its addresses may be relative to.
/// The kernel is asked for the fs base only if the instruction uses it.
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

NextAccesses next_accesses(const Thread& thread) {
    const Next next{thread};
    if (!next.known()) return {};
    return {accesses_of(next.instruction, next.code, thread.registers, next.bases), is_atomic(next.instruction)};
}

}  // namespace anyperf::agent
