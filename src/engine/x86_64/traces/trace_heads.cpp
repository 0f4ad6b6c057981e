// trace_heads.cpp: see trace_heads.h.
#include "engine/x86_64/traces/trace_heads.h"

#include <span>

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/decode/decode_block.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kCounterRoom = 64;  ///< bytes that a counter takes, at most

bool is_within_reach(const std::uint8_t* from, const std::uint8_t* to) {
    constexpr std::int64_t kReach = (std::int64_t{1} << 31) - static_cast<std::int64_t>(kCounterRoom);
    const std::int64_t distance = to - from;
    return -kReach < distance && distance < kReach;
}

/// Writes the counter, and returns its address; null if there is no room.
const std::uint8_t* emit_counter(Cache& cache, Arena& arena, const Block& to, BlockId number) {
    const std::span<std::uint8_t> room = arena.cold();
    if (room.size() < kCounterRoom || !is_within_reach(room.data(), to.host)) return nullptr;
    Emitter hot{room.first(kCounterRoom / 2), arena.to_writable()};
    Emitter exit{room.subspan(kCounterRoom / 2, kCounterRoom / 2), arena.to_writable()};
    const std::uint8_t* const counter = hot.at();
    const std::uint8_t* const to_engine = exit.at();
    hot.add_gs16(offsetof(Thread, heat) + sizeof(std::uint16_t) * (number % kHeatWords), cache.heat);
    hot.jcc(Condition::below, to_engine);
    hot.jmp(to.host);
    emit_exit_to_engine(exit, arena, ExitReason::hot, number);
    if (hot.overflowed() || exit.overflowed()) return nullptr;
    arena.commit_cold(exit.at());
    return counter;
}

}  // namespace

void count_exit_of_trace(Cache& cache, ExitId id, Block& to) {
    Exit& exit = cache.exits[id];
    const BlockId number = cache.id_of(to);
    Block& from = cache.blocks[exit.from];
    if (cache.charges_steps && exit.steps != 0) return;  // it leads to code that charges the step
    if (exit.to != number || !from.trace || to.trace || to.counts_executions) return;
    if (!flags_are_dead(cache.executable, to.pc, kFlagDepth)) return;
    for (std::uint32_t i = 0; i < cache.arena_count; ++i) {
        Arena& arena = cache.arenas[i];
        if (!arena.holds(address_of(from.host))) continue;
        std::uint8_t* const operand = cache.operand_of(exit);
        const std::uint8_t* const counter = emit_counter(cache, arena, to, number);
        if (counter == nullptr) return;
        // One aligned store, as for any link (Cache::patch).
        const auto relative = static_cast<std::int32_t>(counter - (operand + 4));
        __atomic_store_n(reinterpret_cast<std::int32_t*>(cache.writable(operand)), relative, __ATOMIC_RELEASE);
        return;
    }
}

}  // namespace anyperf::engine::x86_64
