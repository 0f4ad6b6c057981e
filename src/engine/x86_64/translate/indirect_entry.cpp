// indirect_entry.cpp: the two forms of an indirect entry. No instruction here may touch a flag: after a mismatch, too,
// the branch ends in code that may read them.
#include "engine/x86_64/translate/indirect_entry.h"

#include <span>

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kEntryRoom = 128;  ///< bytes that an entry with its data and a jump to the block takes, at most

constexpr std::size_t spill_of(Register reg) {
    return offsetof(Thread, spill) + std::size_t{8} * reg;
}

/// Writes the on_mismatch word and the code that jumps through it, and returns the address of that code. On arrival
/// there kTargetRegister holds target - pc, from which it restores the target for the next entry.
const std::uint8_t* emit_mismatch(Emitter& cold, IndirectEntry& entry, std::uint64_t lookup_miss) {
    while (address_of(cold.at()) % sizeof lookup_miss != 0) cold.byte(0);
    std::uint8_t* const word = cold.at();
    cold.u64(lookup_miss);
    entry.on_mismatch = reinterpret_cast<std::uint64_t*>(word);
    const std::uint8_t* const jump = cold.at();
    cold.mov(kScratchRegister, entry.pc);
    cold.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    cold.jmp_word(word);
    return jump;
}

/// A match is a taken jump over the jump to the mismatch code.
void emit_jrcxz(Emitter& code, IndirectEntry& entry, IndirectEntryId id, const std::uint8_t* mismatch) {
    code.u32(id);
    entry.host = code.at();
    code.mov(kScratchRegister, -entry.pc);
    code.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    std::uint8_t* const same = code.jrcxz_forward();
    code.jmp(mismatch);
    code.bind(same);
}

/// A match falls through. The register holds target - pc + 1; `loop` decrements it and jumps unless it became 0. Its
/// displacement has 8 bits, so the long jump to the mismatch code is placed right before the entry.
void emit_loop(Emitter& code, IndirectEntry& entry, IndirectEntryId id, const std::uint8_t* mismatch) {
    const std::uint8_t* const to_mismatch = code.at();
    code.jmp(mismatch);
    code.u32(id);
    entry.host = code.at();
    code.mov(kScratchRegister, 1 - entry.pc);
    code.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    code.loop_back(to_mismatch);
}

}  // namespace

void emit_indirect_entry(Emitter& code, Emitter& cold, IndirectEntry& entry, IndirectEntryId id,
                         std::uint64_t lookup_miss, bool by_loop) {
    const std::uint8_t* const mismatch = emit_mismatch(cold, entry, lookup_miss);
    by_loop ? emit_loop(code, entry, id, mismatch) : emit_jrcxz(code, entry, id, mismatch);
    code.load_gs(kTargetRegister, spill_of(kTargetRegister));
    code.load_gs(kScratchRegister, spill_of(kScratchRegister));
}

void emit_indirect_entry(Cache& cache, IndirectEntryId id, Emitter& code, Emitter& cold) {
    emit_indirect_entry(code, cold, cache.indirect_entries[id], id, cache.lookup_miss(), cache.entries_use_loop);
}

void add_indirect_entry(Cache& cache, Block& block) {
    for (std::uint32_t i = 0; i < cache.arena_count; ++i) {
        Arena& arena = cache.arenas[i];
        if (!arena.holds(address_of(block.host))) continue;
        const std::span<std::uint8_t> room = arena.cold();
        if (room.size() < kEntryRoom) return;
        block.indirect_entry = cache.new_indirect_entry(block.pc);
        if (block.indirect_entry == 0) return;
        // The entry follows the data that only it needs, so that both are one piece.
        Emitter data{room.first(kEntryRoom / 2), arena.to_writable()};
        Emitter code{room.subspan(kEntryRoom / 2, kEntryRoom / 2), arena.to_writable()};
        emit_indirect_entry(cache, block.indirect_entry, code, data);
        // Blocks that lack the code for a step get no entry here (block_at.cpp), unless they follow a call.
        const bool steps = block.has_step_entry != 0 && block.follows_call == 0;
        code.jmp(steps ? block.step_entry() : block.host);
        arena.commit_cold(code.at());
        return;
    }
}

}  // namespace anyperf::engine::x86_64
