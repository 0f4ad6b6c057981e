// x87_pointer.cpp: finds where an instruction stores FIP, and translates what it has stored. Of a 32-bit form only the
// low half of the host address is known; the arenas are few, so the whole address is found by trying each
// (Cache::host_with_low_half()). A stored 0 is left alone: no x87 instruction has run, or the CPU does not keep the
// pointer.
#include "engine/x86_64/x87_pointer.h"

#include <asm/prctl.h>
#include <asm/unistd.h>

#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/decode.h"
#include "engine/x86_64/decode/effective_address.h"
#include "engine/x86_64/translate/recover.h"

namespace anyperf::engine {

namespace {

/// Where the pointer is in the stored state (SDM volume 1, 8.1.10 "Saving the x87 FPU's State", 10.5.1 "FXSAVE Area").
struct StoredPointer {
    std::uint64_t offset;
    std::uint64_t bytes;  ///< 0: the pointer is not stored, or too short to translate
};
constexpr StoredPointer kInEnvironment{12, 4};
constexpr StoredPointer kInFxsave{8, 4};
constexpr StoredPointer kInFxsave64{8, 8};

/// By an instruction whose edx:eax, where it uses them, select `features`.
StoredPointer stored_by(const x86_64::Instruction& instruction, const std::uint8_t* code, std::uint64_t features) {
    if (instruction.map == 0) return instruction.operand16 ? StoredPointer{} : kInEnvironment;
    constexpr std::uint64_t kX87 = 1;
    constexpr std::uint8_t kSaves = 0xae;
    const bool is_fxsave = instruction.opcode == kSaves && (code[instruction.modrm_offset] & 0x38) == 0;
    if (!is_fxsave && (features & kX87) == 0) return {};
    const bool wide = instruction.has_rex && (code[instruction.rex_offset] & 8) != 0;
    return wide ? kInFxsave64 : kInFxsave;
}

/// The application's address of the instruction that has its translation at `host`, of which the low `bytes` bytes are
/// known. `host` itself if it is in no block.
std::uint64_t application_address(Engine& engine, std::uint64_t host, std::uint64_t bytes) {
    const LockGuard held{engine.cache.lock};
    if (bytes < sizeof host) host = engine.cache.host_with_low_half(static_cast<std::uint32_t>(host));
    Block* const block = engine.cache.block_at_host(host);
    return block != nullptr ? x86_64::locate(*block, host).pc : host;
}

/// Replaces the host address in the application's memory at `place`.
void translate_pointer(Thread& thread, std::uint64_t place, std::uint64_t bytes) {
    std::uint64_t stored = 0;
    if (bytes == 0 || !x86_64::guarded_copy(&stored, at_address<const void>(place), bytes) || stored == 0) return;
    const std::uint64_t pc = application_address(*thread.engine, stored, bytes);
    if (pc != stored && pc != 0) x86_64::guarded_copy(at_address<void>(place), &pc, bytes);
}

}  // namespace

void fix_stored_x87_pointer(Thread& thread, std::uint64_t pc, std::uint8_t length) {
    std::uint8_t code[x86_64::kLongestInstruction] = {};
    x86_64::Instruction instruction;
    if (!x86_64::guarded_copy(code, at_address<const void>(pc), length) ||
        decode(code, length, instruction) != x86_64::DecodeStatus::ok ||
        instruction.control != x86_64::Control::x87_state)
        return;
    x86_64::SegmentBases bases{0, thread.gs_base};
    if (instruction.segment == x86_64::Segment::fs) kernel_call(__NR_arch_prctl, ARCH_GET_FS, address_of(&bases.fs));
    const StoredPointer stored = stored_by(instruction, code, thread.registers.r[x86_64::rax]);
    x86_64::Registers before = thread.registers;
    before.rip = pc;
    const x86_64::Accesses all = accesses_of(instruction, code, before, bases);
    if (all.count != 0) translate_pointer(thread, all.of[0].address + stored.offset, stored.bytes);
}

void fix_frame_x87_pointer(Thread& thread, std::uint64_t vector_state) {
    translate_pointer(thread, vector_state + kInFxsave64.offset, kInFxsave64.bytes);
}

}  // namespace anyperf::engine
