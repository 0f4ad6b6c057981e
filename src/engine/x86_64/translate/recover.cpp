// recover.cpp: recover.h explains the mechanism. A search from the block's start is enough: a block has at most 64
// instructions, and faults and signals are rare. Nothing here allocates or locks, because the signal handler calls it.
#include "engine/x86_64/translate/recover.h"

#include "engine/cache/packed_marks.h"
#include "engine/engine.h"
#include "engine/exact/exact.h"
#include "engine/freestanding/kernel.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/decode/decode.h"
#include "engine/x86_64/translate/predict.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/steps.h"

namespace anyperf::engine::x86_64 {

// The marks of a block are in the order of its code, one more than instructions, so a host offset lies between two of
// them. The first prologue has a position of its own, not counted. A later one is found as the rest of the branch
// before it, which is not an exact position: signals wait until the prologue has ended, and prologues do not fault.
BlockPosition locate(Block& block, std::uint64_t host) {
    const auto offset = static_cast<std::uint16_t>(host - address_of(block.host));
    BlockPosition place;
    place.block = &block;
    place.pc = block.pc;
    const Marks marks{block};
    if (offset < marks[0].host) {  // in the first segment's prologue
        place.exact = offset == 0;
        return place;
    }
    place.counted = true;
    for (; place.index < block.instructions && marks[place.index + 1].host <= offset; ++place.index)
        place.pc = marks.address_after(place.index, place.pc);
    place.exact = marks[place.index].host == offset;
    return place;
}

// rsp is never spilled; its number fills the unused nibbles of Mark::spilled.
void restore_spilled(const Thread& thread, const BlockPosition& place, Registers& registers) {
    const std::uint8_t spilled = mark_at(*place.block, place.index).spilled;
    if (spilled == Mark::kDisplacedSource) {
        registers.r[rsi] -= thread.gs_base;
        return;
    }
    for (const unsigned reg : {spilled & 15u, static_cast<unsigned>(spilled >> 4)})
        if (reg != rsp) registers.r[reg] = thread.spill[reg];
}

void leave_history(Thread& thread, const BlockPosition& place, Registers& registers) {
    const Block& block = *place.block;
    if (!block.trace || block.budgeted || block.lane == 0 || !place.counted) return;
    // The last instruction has the history only if it is a direct branch.
    const std::size_t last = block.instructions - 1U;
    constexpr ClassSet kOther = bit(Class::calls) | bit(Class::returns) | bit(Class::indirect) | bit(Class::far);
    const ClassSet classes = mark_at(block, last).classes();
    const bool direct = (classes & bit(Class::branches)) != 0 && (classes & kOther) == 0;
    if (place.index > last || (place.index == last && !direct)) return;
    const Register reg = history_register(block.lane);
    set_history(thread, registers.r[reg]);
    registers.r[reg] = thread.lent_to_history;
}

void restore_lent(const Thread& thread, const BlockPosition& place, Registers& registers) {
    const unsigned reg = mark_at(*place.block, place.index).lent;
    if (reg != Mark::kNotLent && place.counted) registers.r[reg] = thread.lent;
}

namespace {

/// The number of the recorded part of the block that has the instruction with this index; 0: none.
std::uint32_t part_at(Cache& cache, const Block& block, std::size_t index) {
    const BlockId id = cache.blocks.number_of(block);
    for (std::uint32_t number = block.first_recorded(); number != 0 && number <= cache.recorded_segments.used();
         ++number) {
        const RecordedSegment& part = cache.recorded_segments[number];
        if (part.block != id) return 0;
        if (index - part.first < part.instructions) return number;
    }
    return 0;
}

/// The number of the part of the thread's newest record.
std::uint32_t newest_part(Cache& cache, const RecordStream& records) {
    const std::uint64_t* const end = records.words + (records.top - RecordStream::kEmpty) / 8;
    std::uint32_t number = 0;
    for (const std::uint64_t* at = records.words; at < end; at += cache.recorded_segments[number].words)
        number = RecordedSegment::number_of(*at);
    return number;
}

/// The part's prologue has found that all its accesses repeat: those of the instruction at `place` and of the ones
/// after it have not happened.
void uncount_repeated(Thread& thread, const RecordedSegment& part, const BlockPosition& place) {
    using models::Quantity;
    models::Counts& counts = thread.page.counters.modelled;
    for (unsigned i = 0; i < part.accesses; ++i) {
        const RecordedAccess& access = thread.engine->cache.recorded_accesses[part.first_access + i];
        if (access.kind == RecordedAccess::Kind::fetch || access.offset < place.pc - part.pc) continue;
        const bool stores = access.kind == RecordedAccess::Kind::store;
        counts.add(stores ? Quantity::store_references : Quantity::load_references, ~std::uint64_t{0});
        if (!stores) counts.add(Quantity::loads_from_l1, ~std::uint64_t{0});
    }
}

/// Notes how many instructions of the part at `place` have run, if its record is the thread's newest. If nothing is
/// recorded its accesses repeat.
void note_ran(Thread& thread, const BlockPosition& place) {
    if (!place.block->recorded || place.index == place.block->instructions) return;
    Cache& cache = thread.engine->cache;
    const std::uint32_t number = part_at(cache, *place.block, place.index);
    if (number == 0) return;
    const RecordedSegment& part = cache.recorded_segments[number];
    const std::size_t ran = place.index - part.first;
    if (thread.records.top != RecordStream::kEmpty) {
        if (newest_part(cache, thread.records) == number) thread.records.last_ran = static_cast<std::uint8_t>(ran);
        return;
    }
    const bool has_begun = ran != 0 || !place.exact || mark_at(*place.block, place.index).begins_segment != 0;
    if (has_begun) uncount_repeated(thread, part, place);
}

/// Notes that the segment of the instruction at `place` is left there: its cell has counted the whole segment.
void note_exact_rest(Thread& thread, const BlockPosition& place) {
    const Block& block = *place.block;
    if (block.cells == 0 || place.index == block.instructions) return;
    const Marks marks{block};
    std::uint32_t segment = 0;
    std::size_t first = 0;
    for (std::size_t i = 1; i <= place.index; ++i)
        if (marks[i].begins_segment != 0) ++segment, first = i;
    note_segment_left(thread, block.cells + segment, place.index - first);
}

void uncount_cost(Thread& thread, const Mark& mark) {
    add_count(thread, kBusyRow, -std::int64_t{mark.busy});
    add_count(thread, kCostRow, -std::int64_t{mark.cost});
}

}  // namespace

void add_count(Thread& thread, std::size_t row, std::int64_t amount) {
    thread.tuples.add(row, amount);
    if (thread.readable.sums == nullptr) return;
    const ReadableSums& sums = *thread.readable.sums;
    for (std::size_t i = 0; i < sums.count && i < kReadableSums; ++i)
        thread.readable.word[i] += static_cast<std::uint64_t>(sums.sum[i].weight_of(row) * amount);
}

void count_classes(Thread& thread, ClassSet classes, int amount, bool budgeted) {
    if (budgeted && (classes & bit(Class::instructions)) != 0) {
        run::LiveCounters& counters = thread.page.counters;
        amount > 0 ? counters.count_instruction() : counters.uncount_instruction();
        classes &= ~bit(Class::instructions);
    }
    for (ClassSet rest = classes & kEveryClass; rest != 0; rest &= rest - 1) {
        const auto row = static_cast<std::size_t>(__builtin_ctz(rest));
        add_count(thread, row, std::int64_t{amount} * amount_of(classes, row));
    }
}

namespace {

/// A trace puts its calls on the predictor's ring (predict.cpp) and on the list of open calls (note_calls.cpp) in front
/// of its last instruction. For a thread that is stopped earlier this does it.
void note_open_calls(Thread& thread, const BlockPosition& place) {
    const Block& block = *place.block;
    if (!block.trace || place.index + 1 >= block.instructions) return;
    std::uint32_t calls = 0;
    MarkReader marks{block};
    for (std::size_t i = 0; i < place.index; ++i) {
        const ClassSet classes = marks.next().classes();
        if ((classes & bit(Class::calls)) != 0) ++calls;
        if ((classes & bit(Class::returns)) != 0) --calls;
    }
    if (calls == 0) return;
    if (block.notes_calls != 0) thread.open_calls.top += calls * static_cast<std::uint32_t>(sizeof(OpenCall));
    if (thread.engine->counting.predicting)
        push_predicted_returns(thread, thread.engine->counting.machine->branches, calls);
}

/// Uncounts the rest of the segment at `place`. `marks`: the next one is that of the place.
void uncount_rest(Thread& thread, const BlockPosition& place, MarkReader marks) {
    note_exact_rest(thread, place);
    note_open_calls(thread, place);
    if (place.block->counted == 0) return;
    if (place.block->charges_steps != 0) thread.turn.lane[0] += steps_of_trace(*place.block, place.index);
    note_ran(thread, place);
    const ClassSet open = place.block->counted | bit(Class::instructions) | kCountsTwice;
    for (std::size_t i = place.index; i < place.block->instructions; ++i) {
        const Mark mark = marks.next();
        if (i > place.index && mark.begins_segment != 0) break;
        count_classes(thread, mark.classes() & open, -1, place.block->budgeted);
        if ((place.block->counted & kCostRows) != 0) uncount_cost(thread, mark);
    }
}

}  // namespace

std::int64_t steps_of_trace(const Block& trace, std::size_t index) {
    std::int64_t steps = 0;
    std::uint64_t address = trace.pc;
    const Marks marks{trace};
    for (std::size_t i = 0; i + 1 < trace.instructions; ++i) {
        const std::uint64_t next = marks.address_after(i, address);
        if (i >= index && makes_step(marks[i].classes(), address, next)) ++steps;
        address = next;
    }
    return steps;
}

void uncount_rest(Thread& thread, const BlockPosition& place) {
    if (!place.counted) return;
    MarkReader marks{*place.block};
    for (std::size_t i = 0; i < place.index; ++i) marks.next();
    uncount_rest(thread, place, marks);
}

// The end of each budget comes here, so marks are read one after the other: to unpack all first halved the rate of
// samples that a thread can write.
void uncount_from(Thread& thread, Block& block, std::uint64_t pc) {
    BlockPosition place{&block, 0, block.pc, true, true};
    MarkReader marks{block};
    for (; place.index < block.instructions && place.pc != pc; ++place.index)
        place.pc = address_after(block, place.index, marks.next(), place.pc);
    uncount_rest(thread, place, marks);
}

// The charge is computed anew from the marks as tuple_of() in count.cpp computed it.
ChargedSegment decode_segment(Cache& cache, std::uint32_t name) {
    ChargedSegment segment{.block = name >> (kFirstBits + kLaneBits), .lane = name % (1u << kLaneBits)};
    const Block& block = cache.blocks[segment.block];
    segment.budgeted = block.budgeted;
    if (block.charges_steps != 0) segment.steps = steps_of_trace(block, 0);
    const std::size_t first = (name >> kLaneBits) % (1u << kFirstBits);
    segment.pc = block.pc;
    MarkReader marks{block};
    for (std::size_t i = 0; i < first; ++i) segment.pc += marks.next().guest_length;
    std::size_t index = first;
    for (Mark mark = marks.next(); index == first || mark.begins_segment == 0; mark = marks.next()) {
        segment.instructions += mark.plain_classes & bit(Class::instructions);
        if (++index >= block.instructions) break;
    }
    return segment;
}

void count_instruction(Thread& thread, std::uint64_t pc, const Counting& counting) {
    // It has been executed, so its own bytes can be read, even if the engine did not know them as executable. The bytes
    // after it may be unreadable.
    std::uint8_t code[kLongestInstruction] = {};
    const std::size_t size = guarded_prefix(code, at_address<const void>(pc), sizeof code);
    Instruction instruction;
    if (!counting.on() || size == 0 || decode(code, size, instruction) != DecodeStatus::ok) return;
    const ClassSet open = counting.open | bit(Class::instructions) | kCountsTwice;
    count_classes(thread, instruction.classes & open, 1, counting.budgeted);
    if ((open & kCostRows) == 0) return;
    const InstructionCost alone = cost_alone(instruction, *counting.machine);
    add_count(thread, kCostRow, alone.cost);
    add_count(thread, kBusyRow, alone.busy);
}

}  // namespace anyperf::engine::x86_64
