#include "engine/store/load_block.h"

#include <array>

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/cpu/thread.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/steps.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine {

using x86_64::Emitter;
using x86_64::ExitReason;
using x86_64::Relocation;
using x86_64::RelocationKind;

namespace {

constexpr std::size_t kIndirectEntryRoom = 256;  ///< of hot or cold code, more than an indirect entry takes

void put32(std::uint8_t* at, std::uint32_t value) {
    __builtin_memcpy(at, &value, sizeof value);
}

void put_relative(std::uint8_t* at, const std::uint8_t* target) {
    put32(at, static_cast<std::uint32_t>(target - (at + 4)));
}

/// The first address from `at` on that has this remainder modulo 8. What is passed over is never executed.
std::uint8_t* aligned(std::uint8_t* at, unsigned alignment) {
    return at + ((alignment - address_of(at)) & 7u);
}

/// One block while it is loaded. Records that were allocated for a block that fails stay unused until the next flush.
class Loading {
  public:
    Loading(Cache& cache, Arena& arena, const StoredBlock& stored, std::uint64_t pc, x86_64::ClassSet classes)
        : cache_(cache),
          arena_(arena),
          stored_(stored),
          pc_(pc),
          classes_(classes),
          hot_(arena.hot().data()),
          cold_(arena.cold().data()) {}

    Block* run(x86_64::TupleTable& tuples, Entries entries) {
        const std::size_t hot_room = stored_.head.hot_bytes + kIndirectEntryRoom;
        const std::size_t cold_room = stored_.head.cold_bytes + kIndirectEntryRoom;
        if (arena_.hot().size() < hot_room || arena_.cold().size() < cold_room) return nullptr;
        if (!take_words(tuples) || !take_records() || !put_entries(entries)) return nullptr;
        cold_ = aligned(cold_, stored_.cold_alignment());
        __builtin_memcpy(hot_, stored_.hot, stored_.head.hot_bytes);
        fill_block();
        put_exits();
        for (std::size_t i = 0; i < stored_.head.relocations; ++i)
            if (!relocate(stored_.relocations[i])) return nullptr;
        arena_.commit(id_, hot_ + stored_.head.hot_bytes, cold_ + stored_.head.cold_bytes);
        return block_;
    }

  private:
    /// The words of this process for what the block's segments count.
    bool take_words(x86_64::TupleTable& tuples) {
        for (std::size_t i = 0; i < stored_.head.tuples; ++i) {
            const x86_64::Additions additions = tuples.additions_of(stored_.tuples[i]);
            if (additions.count != 1 || additions.part[0].amount != 1) return false;
            word_[i] = additions.part[0].word;
        }
        return true;
    }

    bool take_records() {
        if (!has_valid_marks(stored_)) return false;
        const std::uint32_t marks = cache_.marks.allocate(stored_.head.mark_bytes);
        id_ = cache_.blocks.allocate();
        if (stored_.head.exits != 0) first_exit_ = cache_.exits.allocate(stored_.head.exits);
        if (marks == 0 || id_ == 0 || (stored_.head.exits != 0 && first_exit_ == 0)) return false;
        block_ = &cache_.blocks[id_];
        *block_ = {};
        __builtin_memcpy(&cache_.marks[marks], stored_.marks, stored_.head.mark_bytes);
        block_->marks = &cache_.marks[marks];
        return true;
    }

    /// What precedes a block (Translation::emit_block) falls through to it. The block has an alignment of its own: a
    /// nop is before it, or before the code that charges a step.
    bool put_entries(Entries entries) {
        const bool follows_call = cache_.charges_steps && x86_64::follows_call(pc_);
        const bool steps = cache_.charges_steps && (entries.step || (entries.indirect && !follows_call));
        block_->follows_call = follows_call ? 1 : 0;
        Emitter code{hot_, hot_ + kIndirectEntryRoom};
        Emitter rest{cold_, cold_ + kIndirectEntryRoom};
        if (entries.indirect && !(steps && follows_call)) {
            block_->indirect_entry = cache_.new_indirect_entry(pc_);
            if (block_->indirect_entry == 0) return false;
            x86_64::emit_indirect_entry(cache_, block_->indirect_entry, code, rest);
        }
        const bool flags_dead = steps && x86_64::flags_are_dead(cache_.executable, pc_, x86_64::kFlagDepth);
        const std::size_t step_bytes = !steps ? 0 : flags_dead ? kStepBytes : kLongStepBytes;
        const std::uint8_t* const end = code.at() + step_bytes;
        const auto gap = static_cast<std::size_t>((stored_.hot_alignment() - address_of(end)) & 7u);
        if (gap != 0) code.nop(gap);
        block_->has_step_entry = steps ? 1 : 0;
        block_->long_step_entry = steps && !flags_dead ? 1 : 0;
        if (steps) x86_64::emit_step_charge(code, rest, arena_, id_, 1, flags_dead);
        hot_ = code.at();
        cold_ = rest.at();
        return true;
    }

    void fill_block() {
        const StoredBlockHead& head = stored_.head;
        block_->pc = pc_;
        block_->host = hot_;
        block_->host_bytes = head.hot_bytes;
        block_->guest_bytes = head.guest_bytes & kMostGuestBytes;
        block_->instructions = head.instructions;
        block_->exits = head.exits;
        block_->first_exit = first_exit_;
        block_->counted = stored_.counted() ? classes_ : 0;
        block_->lane = head.lane & 7u;
        block_->counts_executions = stored_.counts_executions();
        block_->budgeted = head.flags & StoredBlockHead::kBudgeted;
    }

    /// Writes the exits and the cold code, of which the record has what is between the stubs.
    void put_exits() {
        const std::uint8_t* rest = stored_.cold;
        std::size_t done = 0;  // bytes of cold code
        for (std::size_t i = 0; i < stored_.head.exits; ++i) {
            const StoredExit stored = stored_.exits[i];
            const ExitId id = first_exit_ + static_cast<ExitId>(i);
            put_exit(stored, cache_.exits[id]);
            if (stored.operand == 0) continue;
            const std::size_t before = stored.stub - done;
            if (before != 0) __builtin_memcpy(cold_ + done, rest, before);
            rest += before;
            Emitter stub{cold_ + stored.stub, cold_ + stored.stub + x86_64::kExitToEngineBytes};
            x86_64::emit_exit_to_engine(stub, arena_, ExitReason::unlinked_exit, id);
            done = stored.stub + x86_64::kExitToEngineBytes;
        }
        if (done != stored_.head.cold_bytes) __builtin_memcpy(cold_ + done, rest, stored_.head.cold_bytes - done);
    }

    void put_exit(const StoredExit& stored, Exit& exit) {
        exit = {};
        exit.from = id_ & (Cache::kMaximumBlocks - 1);
        exit.set_target(pc_ + static_cast<std::uint64_t>(std::int64_t{stored.target}));
        exit.control_number = stored.control;
        exit.steps = stored.steps;
        exit.length = stored.length & 15u;
        if (stored.operand == 0) return;
        std::uint8_t* const operand = hot_ + stored.operand;
        const std::uint8_t* const stub = cold_ + stored.stub;
        exit.operand = stored.operand;
        exit.stub = static_cast<std::int32_t>(stub - operand);
        put_relative(operand, stub);
    }

    /// False if the address that the code refers to is out of reach from here.
    bool relocate(const Relocation& relocation) {
        std::uint8_t* const at = (relocation.in_cold != 0 ? cold_ : hot_) + relocation.at;
        const auto value = static_cast<std::uint32_t>(relocation.value);
        const std::uint64_t address = pc_ + static_cast<std::uint64_t>(std::int64_t{relocation.value});
        switch (relocation.kind) {
            case RelocationKind::to_cold: put_relative(at, cold_ + value); return true;
            case RelocationKind::to_exit_jump:
                put_relative(at, x86_64::exit_jump_of(arena_, static_cast<ExitReason>(value)));
                return true;
            case RelocationKind::to_code:
                put32(at, static_cast<std::uint32_t>(address - (address_of(at) + 4 + relocation.rest)));
                return arena_.reaches(address);
            case RelocationKind::address: __builtin_memcpy(at, &address, sizeof address); return true;
            case RelocationKind::address32: put32(at, static_cast<std::uint32_t>(address)); return address >> 31 == 0;
            case RelocationKind::table:
                put32(at, static_cast<std::uint32_t>(address_of(cache_.indirect_table())));
                return true;
            case RelocationKind::exit: put32(at, first_exit_ + value); return true;
            case RelocationKind::segment: put32(at, x86_64::encode_segment(id_, 0, 0) | value); return true;
            case RelocationKind::word:
                put32(at, static_cast<std::uint32_t>(x86_64::word_offset(word_[value])));
                return true;
            case RelocationKind::heat: put32(at, static_cast<std::uint32_t>(x86_64::heat_offset(id_))); return true;
            case RelocationKind::block: put32(at, id_); return true;
            case RelocationKind::count: break;
        }
        return false;
    }

    Cache& cache_;
    Arena& arena_;
    const StoredBlock& stored_;
    std::uint64_t pc_;
    x86_64::ClassSet classes_;
    std::uint8_t* hot_;   ///< where the block's hot code goes
    std::uint8_t* cold_;  ///< likewise
    Block* block_ = nullptr;
    BlockId id_ = 0;
    ExitId first_exit_ = 0;
    std::array<std::uint16_t, 256> word_;
};

}  // namespace

Block* load_block(Cache& cache, Arena& arena, x86_64::TupleTable& tuples, const StoredBlock& stored, std::uint64_t pc,
                  x86_64::ClassSet classes, Entries entries) {
    return Loading{cache, arena, stored, pc, classes}.run(tuples, entries);
}

}  // namespace anyperf::engine
