// presented_cpu.cpp: the CPU has the vector state of the host's XCR0, and programs have made room for less. So the
// engine executes the instructions that save it, on the components that programs see.
#include "engine/presented_cpu.h"

#include <asm/prctl.h>
#include <asm/unistd.h>

#include <algorithm>

#include "engine/exact/exact.h"
#include "engine/modelling/modelling.h"
#include "engine/signals/signal_state.h"
#include "engine/x86_64/cpu/cpuid.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/decode.h"
#include "engine/x86_64/decode/effective_address.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/x87_pointer.h"

namespace anyperf::engine {

namespace {

using x86_64::StateInstruction;

/// An instruction of the application, decoded again.
struct Code {
    std::uint8_t bytes[x86_64::kLongestInstruction] = {};
    x86_64::Instruction decoded;

    bool read(std::uint64_t pc, std::uint8_t length) {
        return length <= sizeof bytes && x86_64::guarded_copy(bytes, at_address<const void>(pc), length) &&
               decode(bytes, length, decoded) == x86_64::DecodeStatus::ok &&
               (decoded.isa & x86_64::isa::kReadsXcr0) != 0;
    }
    bool is_wide() const { return decoded.has_rex && (bytes[decoded.rex_offset] & 8) != 0; }
};

/// XGETBV of XCR0. Another register than 0 is #GP, which the CPU raises.
bool do_xgetbv(Thread& thread) {
    auto& r = thread.registers.r;
    if (static_cast<std::uint32_t>(r[x86_64::rcx]) != 0) return false;
    r[x86_64::rax] = thread.engine->run->xcr0 & UINT32_MAX;
    r[x86_64::rdx] = thread.engine->run->xcr0 >> 32;
    return true;
}

/// The groups of 0F AE and 0F C7 (SDM volume 2, XSAVE and its like).
StateInstruction state_instruction(const Code& code) {
    constexpr std::uint8_t kCompactGroup = 0xc7;
    const unsigned reg = code.bytes[code.decoded.modrm_offset] >> 3 & 7u;
    if (code.decoded.opcode == kCompactGroup) return StateInstruction::xsavec;
    if (reg == 5) return StateInstruction::xrstor;
    return reg == 6 ? StateInstruction::xsaveopt : StateInstruction::xsave;
}

bool do_state_instruction(Thread& thread, const Code& code, std::uint64_t pc) {
    x86_64::SegmentBases bases{0, thread.gs_base};
    if (code.decoded.segment == x86_64::Segment::fs) kernel_call(__NR_arch_prctl, ARCH_GET_FS, address_of(&bases.fs));
    x86_64::Registers at = thread.registers;
    at.rip = pc;
    const x86_64::Accesses all = accesses_of(code.decoded, code.bytes, at, bases);
    if (all.count == 0) return false;
    const auto& r = thread.registers.r;
    const std::uint64_t wanted = r[x86_64::rdx] << 32 | (r[x86_64::rax] & UINT32_MAX);
    const StateInstruction which = state_instruction(code);
    if (!x86_64::guarded_state(at_address<void>(all.of[0].address), wanted & thread.engine->run->xcr0, which,
                               code.is_wide()))
        return false;
    if (which != StateInstruction::xrstor) fix_stored_x87_pointer(thread, pc, code.decoded.length);
    return true;
}

}  // namespace

void refuse_instruction(Thread& thread, std::uint64_t pc) {
    thread.registers.rip = pc;
    thread.pending = 1;
    SignalState& signals = *thread.signals;
    present_vector_layout(thread.engine->run, signals.xstate);  // the kernel may not have delivered a signal yet
    constexpr std::int32_t kIllegal = 4;                        // SIGILL
    constexpr std::int32_t kIllegalOperand = 2;  // ILL_ILLOPN: handle_invalid_op() in arch/x86/kernel/traps.c
    constexpr std::uint64_t kInvalidOpcode = 6;
    QueuedSignal fault{};
    fault.info.signo = kIllegal;
    fault.info.code = kIllegalOperand;
    fault.info.address = pc;
    fault.trapno = kInvalidOpcode;
    fault.synchronous = true;
    signals.queue.add(fault);
}

bool run_presented_instruction(Thread& thread, std::uint64_t pc, std::uint8_t length) {
    constexpr std::uint8_t kGroup7 = 0x01;
    Code code;
    if (!code.read(pc, length)) return false;
    x86_64::Registers before = thread.registers;
    before.rip = pc;
    if (!(code.decoded.opcode == kGroup7 ? do_xgetbv(thread) : do_state_instruction(thread, code, pc))) return false;
    model_instruction(thread, before);
    x86_64::count_instruction(thread, pc, thread.engine->counting);
    note_instruction_ran(thread, pc);
    return true;
}

void present_vector_layout(const run::RunHeader* run, x86_64::XstateNote& note) {
    if (run == nullptr || run->xcr0 == 0) return;
    constexpr std::uint32_t kExtendedState = 13;
    note.magic = x86_64::kXstateMagic1;
    note.features = run->xcr0;
    note.size = x86_64::cpuid(kExtendedState, 0, run).ebx;
    note.extended_size = note.size + sizeof x86_64::kXstateMagic2;
}

// get_sigframe_size() of Linux: the frame, the vector state with its magic number, and what aligning both may need.
std::uint64_t smallest_signal_stack(const run::RunHeader& run) {
    constexpr std::uint64_t kOfKernel = 936;  // measured: 11,952 with 11,008 bytes of state, 3,376 with 2,440
    constexpr std::uint64_t kAlignment = 16;
    x86_64::XstateNote note{};
    present_vector_layout(&run, note);
    return (note.size + kOfKernel + kAlignment - 1) & ~(kAlignment - 1);
}

}  // namespace anyperf::engine
