#include "engine/x86_64/translate/cost.h"

#include <algorithm>

#include "engine/freestanding/unset_array.h"
#include "engine/x86_64/cpu/registers.h"
#include "engine/x86_64/decode/timing.h"

namespace anyperf::engine::x86_64 {

namespace {

/// Hundredths of a cycle.
using Hundredths = std::uint32_t;
constexpr Hundredths kCycle = 100;

/// An atomic operation on memory waits for all before it (published for Skylake: 18 cycles).
constexpr unsigned kLockCycles = 18;
/// A REP string instruction takes so long to start, whatever it moves.
constexpr unsigned kRepeatCycles = 24;
/// What other code is taken to need between two rounds of a segment whose branch leads elsewhere. Each segment of a
/// loop has such chains, as that of a counter, and they go on at the same time.
constexpr Hundredths kElsewhere = kCycle;

/// The registers by which an instruction addresses its ModRM operand.
struct Address {
    RegisterSet registers = 0;
    std::uint64_t key = 0;  ///< equal for operands with equal registers and displacements
};

Address address_of_operand(const Instruction& instruction, const std::uint8_t* code, std::uint64_t end) {
    Address address;
    if (instruction.modrm_offset == 0) return address;
    const unsigned modrm = code[instruction.modrm_offset];
    if (modrm >= 0xc0) return address;
    // R, X and B: bits 2 to 0 of REX; inverted in bits 7 to 5 after C4 and 62. C5 has neither X nor B.
    constexpr std::uint8_t kTwoByteVex = 0xc5;
    unsigned extension = instruction.has_rex ? code[instruction.rex_offset] : 0;
    if (instruction.has_vex && code[instruction.vex_offset] != kTwoByteVex)
        extension = ~unsigned{code[instruction.vex_offset + 1u]} >> 5;
    unsigned base = (modrm & 7) | (extension & 1) << 3;
    unsigned index = 0;
    unsigned scale = 0;
    bool has_base = !instruction.rip_relative;
    if (instruction.sib_offset != 0) {
        const unsigned sib = code[instruction.sib_offset];
        has_base = (sib & 7) != 5 || modrm >= 0x40;
        base = (sib & 7) | (extension & 1) << 3;
        index = (sib >> 3 & 7) | (extension & 2) << 2;
        scale = sib >> 6;
        if (index != 4) address.registers |= static_cast<RegisterSet>(1u << index);
    }
    if (has_base) address.registers |= static_cast<RegisterSet>(1u << base);
    const auto displacement =
        static_cast<std::uint64_t>(instruction.displacement) + (instruction.rip_relative ? end : 0);
    address.key = displacement << 16 | scale << 12 | index << 8 | base << 4 | unsigned{has_base} << 1 | 1;
    return address;
}

/// Whether a conditional branch is one micro-operation with the comparison before it.
bool fuses(const Instruction& before, const Instruction& branch) {
    return branch.control == Control::conditional && before.sets_flags && !before.writes_memory &&
           before.control == Control::none && timing_of(before.timing).latency == 1;
}

bool is_taken(const Instruction& instruction) {
    return instruction.control == Control::jump || instruction.control == Control::jump_indirect ||
           instruction.control == Control::call || instruction.control == Control::call_indirect ||
           instruction.control == Control::ret;
}

/// Whether the instruction only loads or only stores: it takes no unit but those for accesses, and no time but theirs.
/// Its timing in data/timing is that of its form with registers, a move.
bool only_accesses(const Instruction& instruction, const Address& address) {
    constexpr unsigned kMoves = 2;  // cycles, between general and vector registers
    if (instruction.reads_operand == instruction.writes_operand || instruction.sets_flags || instruction.tests_flags ||
        timing_of(instruction.timing).latency > kMoves)
        return false;
    if (instruction.writes_operand) return true;
    const unsigned read = instruction.read & ~unsigned{address.registers};
    return read == 0 && instruction.vector_read == 0;
}

/// Cycles until the result can be used, on the machine.
unsigned latency_of(const Timing& timing, const models::Pipeline& core) {
    switch (timing.unit) {
        case Unit::divide32: return core.division;
        case Unit::divide64: return core.wide_division;
        case Unit::float_add: return core.float_addition;
        case Unit::float_multiply: return core.float_multiplication;
        default: return timing.latency;
    }
}

/// Fused micro-operations.
unsigned slots_of(const Instruction& instruction, bool fused) {
    if (fused) return 0;
    return timing_of(instruction.timing).slots + unsigned{instruction.reads_memory && instruction.writes_memory};
}

/// What a segment takes of each part of the core.
class Throughput {
  public:
    explicit Throughput(const models::Pipeline& core) : core_(core) {}

    void add(const Instruction& instruction, const Address& address, bool fused) {
        slots_ += slots_of(instruction, fused);
        loads_ += instruction.reads_memory;
        stores_ += instruction.writes_memory;
        taken_ += is_taken(instruction);
        if (is_atomic(instruction)) alone_ += kLockCycles;
        if (instruction.rep) alone_ += kRepeatCycles;
        if (!only_accesses(instruction, address)) execute(timing_of(instruction.timing));
    }

    Hundredths cycles() const {
        // The occupancies in data/timing are those of four integer and three vector units.
        const Hundredths integer = std::max(integer_ * 4 / core_.integer_units, half_integer_);
        const Hundredths vector = std::max({vector_ * 3 / core_.vector_units, half_vector_, one_vector_});
        const Hundredths ports =
            std::max({loads_ * kCycle / core_.loads, stores_ * kCycle / core_.stores, multiply_ / core_.multipliers});
        return std::max(
                   {slots_ * kCycle / core_.width, integer, vector, ports, divide_, taken_ * kCycle / core_.taken}) +
               alone_ * kCycle;
    }

  private:
    void execute(const Timing& timing) {
        constexpr Hundredths kQuarter = kCycle / 4;
        constexpr Hundredths kThird = kCycle / 3;
        switch (timing.unit) {
            case Unit::none: break;
            case Unit::integer:
                integer_ += std::max<Hundredths>(kQuarter * timing.slots, kQuarter);
                if (timing.occupancy > kQuarter) half_integer_ += timing.occupancy;
                break;
            case Unit::multiply:
                integer_ += kQuarter;
                multiply_ += timing.occupancy;
                break;
            case Unit::divide:
            case Unit::divide32: divide_ += timing.occupancy; break;
            case Unit::divide64: divide_ += core_.wide_division * kCycle / 2; break;
            case Unit::vector:
            case Unit::float_add:
            case Unit::float_multiply:
                vector_ += kThird;
                if (timing.occupancy >= kCycle)
                    one_vector_ += timing.occupancy;
                else if (timing.occupancy > kThird + 1)
                    half_vector_ += timing.occupancy;
                break;
        }
    }

    const models::Pipeline& core_;
    unsigned slots_ = 0;
    unsigned loads_ = 0;
    unsigned stores_ = 0;
    unsigned taken_ = 0;
    unsigned alone_ = 0;  ///< cycles in which nothing else runs
    Hundredths integer_ = 0;
    Hundredths half_integer_ = 0;  ///< of what only half of the units execute
    Hundredths multiply_ = 0;
    Hundredths divide_ = 0;
    Hundredths vector_ = 0;
    Hundredths half_vector_ = 0;
    Hundredths one_vector_ = 0;
};

/// What an instruction waits for and what it makes, found once for all rounds of its segment.
struct Step {
    unsigned inputs = 0;              ///< registers, and kFlags
    std::uint64_t vector_inputs = 0;  ///< vector registers
    unsigned address = 0;             ///< registers by which its operand is addressed
    std::uint64_t load = 0;           ///< key of the operand that it loads; 0: none that a store may have written
    std::uint64_t store = 0;          ///< key of the operand that it stores; 0: none
    unsigned written = 0;             ///< registers, and kFlags
    std::uint64_t vector_written = 0;
    unsigned latency = 0;  ///< from its inputs to its result
    bool reads_memory = false;
};

/// The flags, beside the general registers.
constexpr unsigned kFlags = 1u << 16;
/// The stack pointer is followed by renaming: pushes and pops do not wait for each other.
constexpr unsigned kFollowed = 0xffffu & ~(1u << rsp);

Step step_of(const Instruction& instruction, const Address& address, const models::Machine& machine) {
    const Timing& timing = timing_of(instruction.timing);
    const bool accesses = instruction.reads_memory || instruction.writes_memory;
    // A load to the x87 stack takes a new place there.
    const bool pushes = instruction.reads_memory && timing.latency <= 1;
    Step step;
    step.inputs = (instruction.read & kFollowed & (accesses ? ~unsigned{address.registers} : ~0u)) |
                  (instruction.tests_flags ? kFlags : 0);
    step.vector_inputs = pushes ? instruction.vector_read & ~kX87Stack : instruction.vector_read;
    step.address = address.registers & kFollowed;
    if (instruction.reads_operand) step.load = address.key;
    if (instruction.writes_operand) step.store = address.key;
    step.written = (instruction.written & kFollowed) | (instruction.sets_flags ? kFlags : 0);
    step.vector_written = instruction.vector_written;
    step.latency = only_accesses(instruction, address) ? 0 : latency_of(timing, machine.pipeline);
    step.reads_memory = instruction.reads_memory;
    return step;
}

/// When each value is ready, in cycles from the start of the first round, if nothing but values is waited for.
class Values {
  public:
    explicit Values(const models::Machine& machine) : machine_(machine) {}

    /// Returns when the instruction's own result is ready.
    unsigned run(const Step& step) {
        unsigned start = latest_of(step.inputs);
        for (std::uint64_t set = step.vector_inputs; set != 0; set &= set - 1)
            start = std::max(start, vector_[static_cast<unsigned>(__builtin_ctzll(set))]);
        if (step.reads_memory) start = std::max(start, loaded(step));
        const unsigned end = start + step.latency;
        for (unsigned set = step.written; set != 0; set &= set - 1) {
            const unsigned reg = static_cast<unsigned>(__builtin_ctz(set));
            general_[reg] = end;
            ++version_[reg];
        }
        for (std::uint64_t set = step.vector_written; set != 0; set &= set - 1)
            vector_[static_cast<unsigned>(__builtin_ctzll(set))] = end;
        if (step.store != 0) store(key_now(step.store, step.address), end);
        latest_ = std::max(latest_, end);
        return end;
    }

    /// When the last of all values so far is ready.
    unsigned latest() const { return latest_; }

    /// The target of an indirect branch is predicted: nothing waits for the register that has it.
    void forget_target(const Instruction& branch, const Address& address) {
        const bool in_register = branch.control == Control::jump_indirect || branch.control == Control::call_indirect;
        if (!in_register || address.key != 0) return;
        for (unsigned set = branch.read & kFollowed; set != 0; set &= set - 1)
            general_[static_cast<unsigned>(__builtin_ctz(set))] = 0;
    }

  private:
    unsigned latest_of(unsigned registers) const {
        unsigned latest = 0;
        for (unsigned set = registers; set != 0; set &= set - 1)
            latest = std::max(latest, general_[static_cast<unsigned>(__builtin_ctz(set))]);
        return latest;
    }

    unsigned loaded(const Step& step) const {
        unsigned start = latest_of(step.address) + machine_.latencies.l1;
        if (step.load == 0) return start;
        const std::uint64_t key = key_now(step.load, step.address);
        for (const Stored& stored : stored_)
            if (stored.key == key) start = std::max(start, stored.ready + machine_.pipeline.forwarding);
        return start;
    }

    /// The key of an operand, which changes with its registers' values.
    std::uint64_t key_now(std::uint64_t key, unsigned address) const {
        std::uint64_t versions = 0;
        for (unsigned set = address; set != 0; set &= set - 1)
            versions += version_[static_cast<unsigned>(__builtin_ctz(set))];
        return key ^ versions << 48;
    }

    void store(std::uint64_t key, unsigned ready) {
        for (Stored& stored : stored_)
            if (stored.key == key) {
                stored.ready = ready;
                return;
            }
        stored_[next_stored_++ % stored_.size()] = {key, ready};
    }

    struct Stored {
        std::uint64_t key;
        unsigned ready;
    };

    const models::Machine& machine_;
    std::array<unsigned, 17> general_{};  ///< and the flags
    std::array<unsigned, 33> vector_{};
    std::array<std::uint32_t, 17> version_{};
    std::array<Stored, 12> stored_{};
    std::size_t next_stored_ = 0;
    unsigned latest_ = 0;
};

/// A segment with what its instructions address, wait for and make.
struct SegmentCode {
    const Instruction* instructions;
    std::size_t count;
    std::uint64_t bytes;
    UnsetArray<Address, kLongestBlock> address;
    UnsetArray<Step, kLongestBlock> step;

    const Instruction& last() const { return instructions[count - 1]; }
    /// Whether its branch leads to its start.
    bool repeats() const {
        const Control control = last().control;
        const bool direct = control == Control::conditional || control == Control::jump;
        return direct && last().immediate + bytes == 0;
    }
    /// Whether a round of it may wait for a value that the round before has made. If not, all rounds are alike.
    bool has_chains() const {
        unsigned made = 0;
        unsigned needed = 0;
        std::uint64_t vector_made = 0;
        std::uint64_t vector_needed = 0;
        bool loads = false;
        bool stores = false;
        for (std::size_t i = 0; i < count; ++i) {
            needed |= (step[i].inputs | step[i].address) & ~made;
            vector_needed |= step[i].vector_inputs & ~vector_made;
            made |= step[i].written;
            vector_made |= step[i].vector_written;
            loads = loads || step[i].load != 0;
            stores = stores || step[i].store != 0;
        }
        return (needed & made) != 0 || (vector_needed & vector_made) != 0 || (loads && stores);
    }
};

struct Waits {
    Hundredths carried;   ///< by how much a round of the segment delays the next one, or what follows
    unsigned last_ready;  ///< cycles from the start of the first round until its last instruction has its result
};

Waits waits_of(const SegmentCode& segment, const models::Machine& machine) {
    // The first two rounds fill the pipeline; the others show the delay.
    constexpr unsigned kWarm = 2;
    constexpr unsigned kMeasured = 2;
    const unsigned rounds = segment.has_chains() ? kWarm + kMeasured : 1;
    Values values{machine};
    unsigned before = 0;
    Hundredths first_pass = 0;
    Waits waits{};
    for (unsigned round = 0; round < rounds; ++round) {
        if (round == kWarm) before = values.latest();
        unsigned ready = 0;
        for (std::size_t i = 0; i < segment.count; ++i) ready = values.run(segment.step[i]);
        values.forget_target(segment.last(), segment.address[segment.count - 1]);
        if (round != 0) continue;
        waits.last_ready = ready;
        first_pass = values.latest() * kCycle;
    }
    if (rounds != 1) waits.carried = (values.latest() - before) * kCycle / kMeasured;
    // A segment that is as long as a block can be is a piece of longer code, whose next piece goes on with its chains.
    if (segment.count == kLongestBlock)
        waits.carried = std::max(waits.carried, first_pass);
    else if (segment.last().control != Control::none && !segment.repeats())
        waits.carried -= std::min(waits.carried, kElsewhere);
    return waits;
}

/// How much later than its segment's cost says a branch knows where it goes, if nothing ran before the segment.
std::uint8_t resolving(unsigned last_ready, Hundredths cost) {
    constexpr unsigned kMost = 0xff;
    const unsigned cycles = (cost + kCycle / 2) / kCycle;
    return static_cast<std::uint8_t>(last_ready > cycles ? std::min(last_ready - cycles, kMost) : 0);
}

/// Eighths of a cycle; above sixteen to four significant bits.
unsigned rounded(Hundredths cycles) {
    unsigned units = (cycles * kCostUnits + kCycle / 2) / kCycle;
    unsigned step = 1;
    while (units / step >= 2 * kCostUnits) step *= 2;
    units = (units + step / 2) / step * step;
    return std::max(units, 1u);
}

/// What an instruction contributes to the cost of its segment: the cost is divided in proportion.
Hundredths weight(const Instruction& instruction, bool waits, const models::Machine& machine) {
    const Timing& timing = timing_of(instruction.timing);
    Hundredths weight = timing.slots * kCycle / machine.pipeline.width + 1;
    if (timing.unit == Unit::divide64) return weight + machine.pipeline.wide_division * kCycle;
    if (timing.occupancy > kCycle) weight += timing.occupancy;
    if (waits)
        weight +=
            (latency_of(timing, machine.pipeline) + (instruction.reads_memory ? machine.latencies.l1 : 0u)) * kCycle;
    if (is_atomic(instruction)) weight += kLockCycles * kCycle;
    if (instruction.rep) weight += kRepeatCycles * kCycle;
    return weight;
}

/// Divides `cost` among the instructions.
void divide(const SegmentCode& segment, unsigned cost, bool waits, const models::Machine& machine,
            InstructionCost* out) {
    UnsetArray<Hundredths, kLongestBlock> weights;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < segment.count; ++i) {
        weights[i] = weight(segment.instructions[i], waits, machine);
        all += weights[i];
    }
    std::uint64_t sum = 0;
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < segment.count; ++i) {
        sum += weights[i];
        const std::uint64_t part = cost * sum / all - given;
        given += part;
        out[i].cost = static_cast<std::uint16_t>(std::min<std::uint64_t>(part, kMostCost));
    }
}

/// How long the instructions keep the core busy, if their costs are known.
void divide_busy(const SegmentCode& segment, const models::Machine& machine, InstructionCost* out) {
    unsigned slots = 0;
    unsigned costs = 0;
    unsigned busy = 0;
    for (std::size_t i = 0; i < segment.count; ++i) {
        slots +=
            slots_of(segment.instructions[i], i != 0 && fuses(segment.instructions[i - 1], segment.instructions[i]));
        costs += out[i].cost;
        const unsigned until = std::min({slots * kCostUnits / machine.pipeline.width, costs, busy + kMostBusy});
        out[i].busy = static_cast<std::uint8_t>(until - busy);
        busy = until;
    }
}

}  // namespace

void cost_segment(const DecodedBlock& block, std::size_t first, std::size_t end, const std::uint8_t* code,
                  const models::Machine& machine, InstructionCosts& out) {
    SegmentCode segment;
    segment.instructions = block.instructions.data() + first;
    segment.count = end - first;
    Throughput throughput{machine.pipeline};
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < segment.count; ++i) {
        const Instruction& instruction = segment.instructions[i];
        segment.address[i] = address_of_operand(instruction, code + offset, offset + instruction.length);
        segment.step[i] = step_of(instruction, segment.address[i], machine);
        offset += instruction.length;
        segment.bytes = offset;
        throughput.add(instruction, segment.address[i], i != 0 && fuses(segment.instructions[i - 1], instruction));
    }
    const Hundredths busy = throughput.cycles();
    const auto [waiting, last_ready] = waits_of(segment, machine);
    divide(segment, rounded(std::max(busy, waiting)), waiting > busy, machine, out.data() + first);
    divide_busy(segment, machine, out.data() + first);
    out[end - 1].resolving = resolving(last_ready, std::max(busy, waiting));
}

InstructionCost cost_alone(const Instruction& instruction, const models::Machine& machine) {
    Throughput throughput{machine.pipeline};
    throughput.add(instruction, {}, false);
    const Hundredths cycles = std::max<Hundredths>(throughput.cycles(), timing_of(instruction.timing).occupancy);
    const unsigned cost = std::min(rounded(cycles), kMostCost);
    const unsigned busy =
        std::min({slots_of(instruction, false) * kCostUnits / machine.pipeline.width, cost, kMostBusy});
    return {.cost = static_cast<std::uint16_t>(cost), .busy = static_cast<std::uint8_t>(busy), .resolving = 0};
}

}  // namespace anyperf::engine::x86_64
