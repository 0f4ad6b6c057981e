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

/// What a relocation of one kind writes is a sum: the base of the kind, which depends on the block and the process,
/// `factor` times the relocation's value, and minus the address of the next instruction if it is relative. So one loop
/// does for all kinds, without a branch by kind: they are in no order that a CPU would predict.
struct RelocationRule {
    std::uint64_t relative = 0;  ///< all bits set: it is; or none
    std::uint64_t factor = 1;
    // The sum is out of reach if (sum + bias) has one of the bits `beyond`.
    std::uint64_t bias = 0;
    std::uint64_t beyond = 0;
};

constexpr std::size_t kKinds = static_cast<std::size_t>(RelocationKind::count);
template <class T>
using ByKind = std::array<T, kKinds>;

constexpr std::size_t index_of(RelocationKind kind) {
    return static_cast<std::size_t>(kind);
}

constexpr ByKind<RelocationRule> rules() {
    constexpr std::uint64_t kAll = ~std::uint64_t{0};
    constexpr std::uint64_t kSign = std::uint64_t{1} << 31;
    ByKind<RelocationRule> rule;
    for (const RelocationKind kind : {RelocationKind::to_cold, RelocationKind::to_exit_jump, RelocationKind::to_code})
        rule[index_of(kind)] = {.relative = kAll, .bias = kSign, .beyond = kAll << 32};
    rule[index_of(RelocationKind::to_exit_jump)].factor = x86_64::kExitJumpBytes;
    rule[index_of(RelocationKind::address32)].beyond = kAll << 31;
    return rule;
}
constexpr ByKind<RelocationRule> kRules = rules();

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
        if (!put_exits() || !relocate()) return nullptr;
        put_block();
        prefetch_next();
        arena_.commit(id_, hot_ + stored_.head.hot_bytes, cold_ + stored_.head.cold_bytes);
        return &cache_.blocks[id_];
    }

  private:
    /// The words of this process for what the block's segments count.
    bool take_words(x86_64::TupleTable& tuples) {
        for (std::size_t i = 0; i < stored_.head.tuples; ++i) {
            for (const std::uint8_t amount : stored_.tuples[i].amount)
                if (amount > run::kLargestAmount) return false;
            const x86_64::Additions additions = tuples.additions_of(stored_.tuples[i]);
            if (additions.count != 1 || additions.part[0].amount != 1) return false;
            word_[i] = static_cast<std::uint32_t>(x86_64::word_offset(additions.part[0].word));
        }
        return true;
    }

    bool take_records() {
        if (stored_.head.mark_bytes <= stored_.head.instructions) return false;
        const std::uint32_t marks = cache_.marks.allocate(stored_.head.mark_bytes);
        id_ = cache_.blocks.allocate();
        if (stored_.head.exits != 0) first_exit_ = cache_.exits.allocate(stored_.head.exits);
        if (marks == 0 || id_ == 0 || (stored_.head.exits != 0 && first_exit_ == 0)) return false;
        marks_ = &cache_.marks[marks];
        __builtin_memcpy(marks_, stored_.marks, stored_.head.mark_bytes);
        return true;
    }

    /// What precedes a block (Translation::emit_block) falls through to it. The block has an alignment of its own: a
    /// nop is before it, or before the code that charges a step.
    bool put_entries(Entries entries) {
        follows_call_ = cache_.charges_steps && x86_64::follows_call(pc_);
        const bool steps = cache_.charges_steps && (entries.step || (entries.indirect && !follows_call_));
        Emitter code{hot_, hot_ + kIndirectEntryRoom};
        Emitter rest{cold_, cold_ + kIndirectEntryRoom};
        if (entries.indirect && !(steps && follows_call_)) {
            indirect_entry_ = cache_.new_indirect_entry(pc_);
            if (indirect_entry_ == 0) return false;
            x86_64::emit_indirect_entry(cache_, indirect_entry_, code, rest);
        }
        const bool flags_dead = steps && x86_64::flags_are_dead(cache_.executable, pc_, x86_64::kFlagDepth);
        step_bytes_ = !steps ? 0 : flags_dead ? kStepBytes : kLongStepBytes;
        const std::uint8_t* const end = code.at() + step_bytes_;
        const auto gap = static_cast<std::size_t>((stored_.hot_alignment() - address_of(end)) & 7u);
        if (gap != 0) code.nop(gap);
        if (steps) x86_64::emit_step_charge(code, rest, arena_, id_, 1, flags_dead);
        hot_ = code.at();
        cold_ = rest.at();
        return true;
    }

    void put_block() const {
        const StoredBlockHead& head = stored_.head;
        cache_.blocks[id_] = {
            .pc = pc_,
            .host = hot_,
            .marks = marks_,
            .host_bytes = head.hot_bytes,
            .guest_bytes = static_cast<std::uint16_t>(head.guest_bytes & kMostGuestBytes),
            .follows_call = follows_call_,
            .has_step_entry = step_bytes_ != 0,
            .long_step_entry = step_bytes_ == kLongStepBytes,
            .instructions = head.instructions,
            .exits = head.exits,
            .first_exit = first_exit_,
            .indirect_entry = indirect_entry_,
            .counted = stored_.counted() ? classes_ : 0,
            .lane = static_cast<std::uint8_t>(head.lane & 7u),
            .counts_executions = stored_.counts_executions(),
            .budgeted = stored_.budgeted(),
        };
    }

    /// The memory of the next block is new, so it is in no cache of the CPU.
    void prefetch_next() const {
        constexpr std::size_t kAhead = 256;
        __builtin_prefetch(hot_ + stored_.head.hot_bytes + kAhead, 1);
        __builtin_prefetch(cold_ + stored_.head.cold_bytes + kAhead, 1);
        __builtin_prefetch(&cache_.blocks[id_] + 4, 1);
        __builtin_prefetch(&cache_.exits[first_exit_] + 12, 1);
    }

    /// Writes the exits and the cold code, of which the record has what is between the stubs. False if a place is not
    /// in the block, or the stubs do not follow each other.
    bool put_exits() {
        const StoredBlockHead& head = stored_.head;
        const std::uint8_t* const jump = x86_64::exit_jump_of(arena_, ExitReason::unlinked_exit);
        const std::uint8_t* rest = stored_.cold;
        const std::uint8_t* const rest_end = rest + stored_.cold_rest();
        std::size_t done = 0;  // bytes of cold code
        for (std::size_t i = 0; i < head.exits; ++i) {
            const StoredExit stored = stored_.exits[i];
            const ExitId id = first_exit_ + static_cast<ExitId>(i);
            cache_.exits[id] = exit_of(stored);
            if (stored.operand == 0) continue;
            const std::size_t before = stored.stub - done;
            if (!has_place(stored.operand) || stored.stub < done ||
                before > static_cast<std::size_t>(rest_end - rest) ||
                stored.stub + x86_64::kExitToEngineBytes > head.cold_bytes)
                return false;
            if (before != 0) __builtin_memcpy(cold_ + done, rest, before);
            rest += before;
            std::uint8_t* const stub = cold_ + stored.stub;
            x86_64::write_exit_to_engine(stub, stub, jump, id);
            put_relative(hot_ + stored.operand, stub);
            done = stored.stub + x86_64::kExitToEngineBytes;
        }
        const auto left = static_cast<std::size_t>(rest_end - rest);
        if (head.cold_bytes - done != left) return false;
        if (left != 0) __builtin_memcpy(cold_ + done, rest, left);
        return true;
    }

    /// Whether the block has room for an operand there. link() patches it by one store, so it must not cross a multiple
    /// of 8 bytes.
    bool has_place(std::size_t operand) const {
        return operand + 4 <= stored_.head.hot_bytes && (stored_.hot_alignment() + operand) % 8 <= 4;
    }

    Exit exit_of(const StoredExit& stored) const {
        const std::int64_t distance = cold_ + stored.stub - (hot_ + stored.operand);
        return {
            .signed_target = static_cast<std::int64_t>(pc_) + stored.target,
            .control_number = stored.control & 63u,
            .steps = stored.steps,
            .from = id_ & (Cache::kMaximumBlocks - 1),
            .to = 0,
            .operand = stored.operand,
            .length = stored.length & 15u,
            .stub = stored.operand == 0 ? 0 : static_cast<std::int32_t>(distance),
        };
    }

    /// False if a place is not in the block, or the address that the code refers to is out of reach from here.
    bool relocate() const {
        const StoredBlockHead& head = stored_.head;
        constexpr std::uint64_t kAny = std::uint64_t{1} << 32;
        // By RelocationKind.
        const ByKind<std::uint64_t> base{address_of(cold_),
                                         address_of(x86_64::exit_jump_of(arena_, ExitReason{})),
                                         pc_,
                                         pc_,
                                         pc_,
                                         address_of(cache_.indirect_table()),
                                         first_exit_,
                                         x86_64::encode_segment(id_, 0, 0),
                                         0,
                                         x86_64::heat_offset(id_),
                                         id_};
        const ByKind<std::uint64_t> values{
            head.cold_bytes, x86_64::kExitReasons, kAny, kAny, kAny, 1, head.exits, 256, head.tuples, 1, 1};
        for (std::size_t i = 0; i < head.relocations; ++i) {
            const Relocation relocation = stored_.relocations[i];
            const std::size_t kind = index_of(relocation.kind);
            const auto value = static_cast<std::uint32_t>(relocation.value);
            const std::size_t room = relocation.in_cold != 0 ? head.cold_bytes : head.hot_bytes;
            if (kind >= kKinds || relocation.at + relocation.bytes() > room || value >= values[kind]) return false;
            std::uint8_t* const at = (relocation.in_cold != 0 ? cold_ : hot_) + relocation.at;
            const RelocationRule& rule = kRules[kind];
            const std::uint64_t next = address_of(at) + 4 + relocation.rest;
            const std::uint64_t amount = relocation.kind == RelocationKind::word
                                             ? word_[value]
                                             : static_cast<std::uint64_t>(std::int64_t{relocation.value}) * rule.factor;
            const std::uint64_t sum = base[kind] + amount - (next & rule.relative);
            if (((sum + rule.bias) & rule.beyond) != 0) return false;
            if (relocation.kind == RelocationKind::address)
                __builtin_memcpy(at, &sum, sizeof sum);
            else
                put32(at, static_cast<std::uint32_t>(sum));
        }
        return true;
    }

    Cache& cache_;
    Arena& arena_;
    const StoredBlock& stored_;
    std::uint64_t pc_;
    x86_64::ClassSet classes_;
    std::uint8_t* hot_;   ///< where the block's hot code goes
    std::uint8_t* cold_;  ///< likewise
    std::uint8_t* marks_ = nullptr;
    BlockId id_ = 0;
    ExitId first_exit_ = 0;
    IndirectEntryId indirect_entry_ = 0;
    bool follows_call_ = false;
    std::size_t step_bytes_ = 0;           ///< of the code that charges a step
    std::array<std::uint32_t, 256> word_;  ///< offsets in Thread
};

}  // namespace

Block* load_block(Cache& cache, Arena& arena, x86_64::TupleTable& tuples, const StoredBlock& stored, std::uint64_t pc,
                  x86_64::ClassSet classes, Entries entries) {
    return Loading{cache, arena, stored, pc, classes}.run(tuples, entries);
}

}  // namespace anyperf::engine
