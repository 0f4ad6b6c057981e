// record_accesses.cpp: records what a segment accesses, for the models of caches, TLBs and branch predictors.
//
// PROBLEM. The models need each access in its order, with its address. The simple way computes each address in front of
// its instruction and stores it: five or more instructions for an access, most of them to borrow registers.
//
// MECHANISM. Most addresses of a segment follow from a few registers that the segment does not change, or only by
// constants (push, pop, add). So the prologue of a segment appends a record to the thread's RecordStream: the number of
// the RecordedSegment and the values of those registers. A register that the segment itself has set is captured where
// it is used. The RecordedAccess records, which are made here once, say how the addresses follow from these values.
// Where a branch went needs no code at all: it is the segment of the next record. The engine feeds the models with the
// records at the thread's next exit (engine/modelling/drain.cpp). A prologue without room for its record exits as for
// an exhausted budget.
//
// The record of a segment that is left in the middle has its full length. recover.h notes how many of the segment's
// instructions have run (RecordStream::last_ran).
//
// Code that compares accesses first (accesses/check_accesses.cpp) captures no register: where the segment needs one
// that it has set, a part with a record of its own begins.
//
// While only branch predictors are modelled, a record is the number of its segment.
//
// LIMITS. The elements of gathers and scatters are not recorded: their addresses are in vector registers.
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

using Kind = RecordedAccess::Kind;

/// Registers that may hold the record's address. rsp and r12 are missing: as the base of an address they need a SIB
/// byte.
constexpr Register kHolders[] = {rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r13, r14, r15};
/// So few registers are stored at a segment's start that one of kHolders is always left to hold the address.
constexpr std::size_t kMostAtStart = std::size(kHolders) - 2;

constexpr std::size_t kTop = offsetof(Thread, records) + offsetof(RecordStream, top);
constexpr std::size_t kNextTop = offsetof(Thread, records) + offsetof(RecordStream, next_top);
constexpr std::size_t kStreamEnd =
    offsetof(Thread, records) + offsetof(RecordStream, words) + RecordStream::kWords * sizeof(std::uint64_t);

constexpr std::uint8_t kShortVex = 0xc5;
/// The legacy area and the header of an xsave area, which are always there (SDM volume 1, 13.4).
constexpr std::uint16_t kSmallestSaveArea = 576;

bool is_one_byte(const Instruction& instruction) {
    return instruction.map == 0 && !instruction.has_vex;
}

bool names_memory(const Instruction& instruction, const std::uint8_t* code) {
    return instruction.modrm_offset != 0 && code[instruction.modrm_offset] < 0xc0;
}

/// The bits B (bit 0) and X (bit 1) of the instruction's prefix, which extend register numbers.
unsigned extensions(const Instruction& instruction, const std::uint8_t* code) {
    if (instruction.has_rex) return code[instruction.rex_offset] & 3u;
    if (instruction.has_vex && code[instruction.vex_offset] != kShortVex)
        return (~unsigned{code[instruction.vex_offset + 1]} >> 5) & 3u;
    return 0;
}

/// wrfsbase: F3 0F AE /2.
bool sets_fs_base(const Instruction& instruction, const std::uint8_t* code) {
    return instruction.map == 1 && !instruction.has_vex && instruction.opcode == 0xae &&
           instruction.modrm_offset != 0 && (code[instruction.modrm_offset] & 0xf8) == 0xd0;
}

/// The bytes that the instruction adds to rsp; 0 if it is not a plain push or pop.
std::int64_t stack_step(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode;
    if (instruction.has_vex || instruction.implied_bytes == 0 || instruction.map > 1) return 0;
    const std::int64_t bytes = instruction.implied_bytes;
    if (instruction.map == 1)
        return opcode == 0xa0 || opcode == 0xa8 ? -bytes : opcode == 0xa1 || opcode == 0xa9 ? bytes : 0;
    if ((opcode >= 0x50 && opcode < 0x58) || opcode == 0x68 || opcode == 0x6a || opcode == 0x9c || opcode == 0xff)
        return -bytes;
    return (opcode >= 0x58 && opcode < 0x60) || opcode == 0x8f || opcode == 0x9d ? bytes : 0;
}

bool is_pop_of_rsp(const Instruction& instruction, const std::uint8_t* code) {
    return is_one_byte(instruction) && instruction.opcode == 0x5c && (extensions(instruction, code) & 1) == 0;
}

/// Whether the instruction adds an immediate to a 64-bit register, or subtracts one. `reg` is the register then, and
/// `sum` is what is added to it.
bool is_addition(const Instruction& instruction, const std::uint8_t* code, unsigned& reg, std::int64_t& sum) {
    if (!is_one_byte(instruction) || (instruction.opcode != 0x81 && instruction.opcode != 0x83)) return false;
    if (!instruction.has_rex || (code[instruction.rex_offset] & 8) == 0) return false;
    const std::uint8_t modrm = code[instruction.modrm_offset];
    const unsigned operation = modrm >> 3 & 7u;
    if (modrm < 0xc0 || (operation != 0 && operation != 5)) return false;
    reg = (modrm & 7u) | (extensions(instruction, code) & 1u) << 3;
    const auto value = static_cast<std::int64_t>(instruction.immediate);
    sum = operation == 0 ? value : -value;
    return true;
}

}  // namespace

// While a segment is planned, plan_.known[reg] says that the register has the value of a word of the record plus
// `delta`. If `word` is 0, it is the value at the segment's start plus `delta`, and the record has no word for that
// yet. If `valid` is false, the segment has set the register in a way that is not followed.

/// Adds a word for the register's value before the planned instruction, or after it. The translation of that
/// instruction stores the word. Returns the word's index; 0 if the record is full, and then the access is recorded
/// without this register.
std::uint8_t Translation::capture(unsigned reg, bool after) {
    if (plan_.words >= RecordingPlan::kMostWords) return 0;
    const std::uint8_t word = plan_.words++;
    plan_.captures[plan_.capture_count++] = {static_cast<std::uint8_t>(plan_.index), static_cast<std::uint8_t>(reg),
                                             word, after};
    plan_.known[reg] = {true, word, 0};
    return word;
}

// The prologue stores all values from the start of the segment, and borrows one register for that. A captured value is
// stored at its instruction, which borrows a register each time. So only registers that the segment computes are
// captured, and those that find no room at the start.

/// The word from which the value of `reg` at the planned instruction follows. The constant that must be added to the
/// word, shifted left by `scale`, is added to `displacement`.
std::uint8_t Translation::word_of(unsigned reg, std::int64_t& displacement, unsigned scale) {
    RecordingPlan::Known& known = plan_.known[reg];
    if (!known.valid && counting_.checking) {
        plan_.unknown = true;
        return 0;
    }
    if (!known.valid) return capture(reg, false);
    if (known.word == 0) {
        std::size_t used = 0;
        for (const std::uint8_t word : plan_.at_start) used += word != 0 ? 1 : 0;
        // One register of kHolders must be left to hold the record's address while the others are stored.
        if (used == kMostAtStart || plan_.words >= RecordingPlan::kMostWords) {
            plan_.unknown = counting_.checking;
            return counting_.checking ? std::uint8_t{0} : capture(reg, false);
        }
        plan_.at_start[reg] = known.word = plan_.words++;
    }
    displacement += known.delta << scale;
    return known.word;
}

/// Adds an access of the planned instruction. `segmented`: a segment override applies to the access.
void Translation::add_access(RecordedAccess access, const Instruction& instruction, bool segmented) {
    const std::uint32_t number = cache_.recorded_accesses.allocate();
    // Without a record the block must not be used: it would count fewer accesses than the program makes.
    if (number == 0) {
        out_of_records_ = true;
        return;
    }
    access.offset = plan_.offset;
    access.address32 = instruction.address32;
    access.in_fs = segmented && instruction.segment == Segment::fs;
    access.in_gs = segmented && instruction.segment == Segment::gs;
    cache_.recorded_accesses[number] = access;
    RecordedSegment& segment = cache_.recorded_segments[plan_.segment];
    if (segment.accesses++ == 0) segment.first_access = number;
}

void Translation::plan_named_access(const Instruction& instruction, std::uint64_t address) {
    const std::uint8_t* const code = bytes_at(address);
    RecordedAccess access;
    access.kind = !instruction.writes_operand ? Kind::load : instruction.reads_operand ? Kind::modify : Kind::store;
    access.bytes = (instruction.operand_bytes != 0 ? instruction.operand_bytes : kSmallestSaveArea) & 0x7fffu;
    access.displacement = instruction.displacement;
    if (!names_memory(instruction, code)) return add_access(access, instruction, true);  // mov moffs
    if (instruction.rip_relative) {
        access.displacement = static_cast<std::int64_t>(operand_address(instruction, address));
        return add_access(access, instruction, true);
    }
    if (has_compressed_displacement(instruction, code)) access.displacement *= instruction.operand_bytes;
    const unsigned extended = extensions(instruction, code);
    const std::uint8_t modrm = code[instruction.modrm_offset];
    unsigned base = (modrm & 7u) | (extended & 1u) << 3;
    bool has_base = true;
    if (instruction.sib_offset != 0) {
        const std::uint8_t sib = code[instruction.sib_offset];
        if (instruction.has_vex && instruction.operand_bytes == 0) return;  // a gather or scatter
        const unsigned index = (sib >> 3 & 7u) | (extended & 2u) << 2;
        base = (sib & 7u) | (extended & 1u) << 3;
        has_base = (sib & 7u) != 5 || modrm >= 0x40;
        access.scale = sib >> 6 & 3u;
        if (index != rsp) access.index = word_of(index, access.displacement, sib >> 6);
        if (index != rsp) access.after = plan_.loaded >> index & 1u;
    }
    if (has_base) access.base = word_of(base, access.displacement);
    if (has_base) access.after |= plan_.loaded >> base & 1u;
    // pop increments rsp before it computes the address of its operand from rsp (SDM volume 2, POP).
    if (is_one_byte(instruction) && instruction.opcode == 0x8f && has_base && base == rsp)
        access.displacement += instruction.implied_bytes;
    add_access(access, instruction, true);
}

/// Plans the accesses of a string instruction (SDM volume 1, 7.3.9). Returns false if it is another instruction.
/// The opcodes are A4 to AF without A8 and A9 (test): movs, cmps, stos, lods, scas. The lowest bit is the width.
bool Translation::plan_string(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode & 0xfe;
    if (!is_one_byte(instruction) || opcode < 0xa4 || opcode > 0xae || opcode == 0xa8) return false;
    const bool from_source = opcode == 0xa4 || opcode == 0xa6 || opcode == 0xac;
    const bool uses_target = opcode != 0xac;
    const bool loads_target = opcode == 0xa6 || opcode == 0xae;
    RecordedAccess source;
    RecordedAccess target;
    source.bytes = target.bytes = instruction.implied_bytes;
    if (from_source) source.base = word_of(rsi, source.displacement);
    if (uses_target) target.base = word_of(rdi, target.displacement);
    source.kind = instruction.rep ? Kind::load_while : Kind::load;
    target.kind = loads_target ? source.kind : instruction.rep ? Kind::store_while : Kind::store;
    // The number of iterations of a REP follows from the pointer's values before and after it.
    if (from_source && instruction.rep) source.after = capture(rsi, true);
    if (uses_target && instruction.rep) target.after = capture(rdi, true);
    if (from_source) add_access(source, instruction, true);
    if (uses_target) add_access(target, instruction, false);
    return true;
}

/// Plans an implied access other than a string's: to the stack, to xlat's table, or to the destination of maskmov (rdi)
/// or movdir64b (the register in ModRM.reg).
void Translation::plan_implied_access(const Instruction& instruction, std::uint64_t address) {
    constexpr std::uint8_t kLeave = 0xc9;
    constexpr std::uint8_t kXlat = 0xd7;
    const bool writes = instruction.writes_memory && !instruction.writes_operand;
    RecordedAccess access;
    access.kind = writes ? Kind::store : Kind::load;
    access.bytes = instruction.implied_bytes;
    const bool one_byte = is_one_byte(instruction);
    if (one_byte && instruction.opcode == kXlat) {
        access.base = word_of(rbx, access.displacement);
        std::int64_t none = 0;
        if (plan_.known[rax].delta != 0) plan_.known[rax].valid = false;
        access.index = word_of(rax, none);
        access.byte_index = 1;
        return add_access(access, instruction, true);
    }
    if (one_byte && instruction.opcode == kLeave) {
        access.base = word_of(rbp, access.displacement);
        return add_access(access, instruction, false);
    }
    if ((instruction.read >> rsp & 1) != 0) {
        access.displacement = writes ? -std::int64_t{instruction.implied_bytes} : 0;
        access.base = word_of(rsp, access.displacement);
        return add_access(access, instruction, false);
    }
    if (!writes) return;
    const bool by_register = instruction.reads_operand;  // movdir64b
    const std::uint8_t* const code = bytes_at(address);
    const unsigned extended = instruction.has_rex ? code[instruction.rex_offset] << 1 & 8u : 0;
    const unsigned to = by_register ? (code[instruction.modrm_offset] >> 3 & 7u) | extended : unsigned{rdi};
    access.base = word_of(to, access.displacement);
    add_access(access, instruction, !by_register);
}

/// Which registers have a loaded value, or one that was computed from one, after the instruction. Loads from the stack
/// by push and pop are left out: they seldom miss.
RegisterSet loaded_after(const Instruction& instruction, RegisterSet loaded) {
    const bool loads = instruction.reads_memory && instruction.implied_bytes == 0;
    const unsigned written = instruction.written & ~(1u << rsp);
    if (loads || (instruction.read & loaded) != 0) return static_cast<RegisterSet>(loaded | written);
    return static_cast<RegisterSet>(loaded & ~unsigned{instruction.overwritten});
}

/// Updates what is known of the registers to what holds after the instruction.
void Translation::follow_registers(const Instruction& instruction, const std::uint8_t* code) {
    unsigned moved = kRegisters;
    std::int64_t by = 0;
    if (!is_addition(instruction, code, moved, by)) {
        by = is_pop_of_rsp(instruction, code) ? 0 : stack_step(instruction);
        moved = by != 0 ? unsigned{rsp} : kRegisters;
    }
    for (unsigned reg = 0; reg < kRegisters; ++reg) {
        if ((instruction.written >> reg & 1) == 0) continue;
        const bool captured = instruction.rep && (reg == rsi || reg == rdi);  // after it, by plan_string()
        if (reg == moved)
            plan_.known[reg].delta += by;
        else if (!captured)
            plan_.known[reg].valid = false;
    }
}

/// Adds the fetch of the planned instruction, unless it lies in the line that the instruction before it ended in: that
/// line is L1I's most recent, so the fetch changes nothing.
void Translation::plan_fetch(const Instruction& instruction, std::uint64_t address) {
    const unsigned shift = counting_.line_shift;
    const std::uint64_t last_line = (address + instruction.length - 1) >> shift;
    if (plan_.offset != 0 && last_line == (address - 1) >> shift) return;
    RecordedAccess fetch;
    fetch.kind = Kind::fetch;
    fetch.displacement = static_cast<std::int64_t>(address);
    fetch.bytes = instruction.length;
    add_access(fetch, instruction, false);
}

void Translation::plan_instruction(std::size_t index, std::uint64_t address) {
    const Instruction& instruction = decoded_.instructions[index];
    const std::uint8_t* const code = bytes_at(address);
    plan_.index = index;
    plan_fetch(instruction, address);
    const bool implied = instruction.implied_bytes != 0 && (instruction.reads_memory || instruction.writes_memory);
    const bool named = instruction.reads_operand || instruction.writes_operand;
    // The order is that of the CPU: a pop to memory reads the stack before it writes its operand, a push of an operand
    // in memory reads the operand before it writes the stack.
    const bool reads_implied_first = named && !instruction.reads_operand;  // pop to memory
    if (!implied || !plan_string(instruction)) {
        if (implied && reads_implied_first) plan_implied_access(instruction, address);
        if (named) plan_named_access(instruction, address);
        if (implied && !reads_implied_first) plan_implied_access(instruction, address);
    }
    if (sets_fs_base(instruction, code)) {
        RecordedAccess base;
        base.kind = Kind::fs_base;
        base.base = capture(kFsBase, true);
        add_access(base, instruction, false);
    }
    follow_registers(instruction, code);
}

/// As if the segment had run before: a loop that follows a list has loaded the pointer in its last round.
RegisterSet Translation::loaded_by(std::size_t first) const {
    RegisterSet loaded = 0;
    const std::size_t end = decoded_.segment_end(first);
    for (std::size_t i = first; i < end; ++i) loaded = loaded_after(decoded_.instructions[i], loaded);
    return loaded;
}

/// Plans the accesses of the instruction. False if it must begin a part of its own, because it needs a register that
/// this part has set, or because its accesses can't be checked: then nothing has changed.
bool Translation::plan_within_part(std::size_t index, std::uint64_t pc) {
    if (!counting_.checking) {
        plan_instruction(index, pc);
        return true;
    }
    RecordedSegment& segment = cache_.recorded_segments[plan_.segment];
    const RecordedSegment before = segment;
    const auto known = plan_.known;
    const auto at_start = plan_.at_start;
    const std::uint8_t words = plan_.words;
    plan_.unknown = false;
    plan_instruction(index, pc);
    plan_.unchecked = !can_check(before.accesses);
    if ((!plan_.unknown && !plan_.unchecked) || index == plan_.first) return true;
    segment = before;
    plan_.known = known;
    plan_.at_start = at_start;
    plan_.words = words;
    plan_.capture_count = 0;
    plan_.unchecked = false;
    return false;
}

void Translation::plan_recording(std::size_t first, std::uint64_t pc, RegisterSet loaded) {
    plan_ = {};
    plan_.first = plan_.end = first;
    plan_.loaded = loaded;
    plan_.segment = cache_.recorded_segments.allocate();
    if (plan_.segment == 0) {
        out_of_records_ = true;
        return;
    }
    if (first_recorded_ == 0) first_recorded_ = plan_.segment;
    RecordedSegment& segment = cache_.recorded_segments[plan_.segment];
    segment.pc = pc;
    segment.replay = cache_.leave_replay;
    segment.block = id_;
    segment.first = first & 0x7fU;
    const std::size_t end = decoded_.segment_end(first);
    unsigned instructions = 0;
    for (std::size_t i = first; i < end && !plan_.unchecked; ++i) {
        const Instruction& instruction = decoded_.instructions[i];
        // model_instruction() feeds the models with it after it has run.
        if (runs_in_place(instruction)) break;
        plan_.offset = static_cast<std::uint16_t>(pc - segment.pc);
        if (counting_.recording_accesses && !plan_within_part(i, pc)) break;
        plan_.loaded = loaded_after(instruction, plan_.loaded);
        segment.last = static_cast<unsigned>(instruction.control) & 0x1fU;
        segment.last_bytes = instruction.length & 0xfU;
        ++instructions;
        pc += instruction.length;
    }
    plan_.end = first + instructions;
    segment.bytes = (pc - segment.pc) & 0x3ffU;
    segment.instructions = instructions & 0x7fU;
    segment.resolving = costs_[end - 1].resolving;
    segment.words = plan_.words;
}

/// The offset of a word of the segment's record from %gs plus RecordStream::top, which is the end of the record.
std::size_t Translation::offset_of_word(std::uint8_t word) const {
    return kStreamEnd - sizeof(std::uint64_t) * (std::size_t{plan_.words} - word);
}

/// Before an exit of a full buffer: where the thread may go on afterwards, which is the prologue that is about to be
/// written. Changes the register, but no flag.
//   mov $PC, REG ; mov REG, %gs:RIP ; lea PROLOGUE, REG ; mov REG, %gs:NEXT_HOST ; movl $MAY_GO_ON, %gs:NEXT_TOP
void Translation::note_prologue(Register reg) {
    cold_.mov(reg, cache_.recorded_segments[plan_.segment].pc);
    cold_.store_gs(reg, offsetof(Thread, registers) + offsetof(Registers, rip));
    cold_.lea_relative(reg, hot_.at());
    cold_.store_gs(reg, offsetof(Thread, next_host));
    cold_.mov_gs32(kNextTop, kMayGoOn);
}

/// Makes room for the record and moves RecordStream::top to the record's end, which `holder` has afterwards; it is
/// spilled. Without room the thread exits as at the end of its budget; a record that does not begin a segment always
/// has room. Precondition: unless the flags are dead, `holder` is rcx.
void Translation::emit_room_check(Emitter& code, bool flags_dead, Register holder, std::uint32_t budget_payload) {
    // `top` counts up from a negative number to 0, so the sign says whether the record fits: no comparison is needed.
    const auto bytes = static_cast<std::int32_t>(sizeof(std::uint64_t) * plan_.words);
    const bool begins_segment = plan_.begins_segment;
    const std::uint8_t* full = nullptr;
    if (begins_segment) {
        std::uint8_t* const over = &code == &cold_ ? cold_.jmp_far_forward() : nullptr;
        full = cold_.at();
        if (over == nullptr) note_prologue(holder);
        cold_.load_gs(holder, offsetof(Thread, spill) + std::size_t{8} * holder);
        exit_stub(ExitReason::budget, budget_payload);
        if (over != nullptr) cold_.bind_far(over);
    }
    code.store_gs(holder, offsetof(Thread, spill) + std::size_t{8} * holder);
    code.load_gs(holder, kTop);
    if (!begins_segment) {
        code.lea(holder, holder, bytes);
    } else if (flags_dead) {
        code.add(holder, bytes);
        code.jcc(Condition::no_sign, full);
    } else {
        // The upper half of a negative `top` is all ones; adding 1 gives zero, which jrcxz tests without a flag.
        code.lea(rcx, rcx, bytes);
        code.store_gs(rcx, kNextTop);
        code.load_gs32(rcx, kNextTop + 4);
        code.lea32(rcx, rcx, 1);
        std::uint8_t* const fits = code.jrcxz_forward();
        code.jmp(full);
        code.bind(fits);
        code.load_gs(rcx, kNextTop);
    }
    code.store_gs(holder, kTop);
}

/// A register whose value the record does not have at its start. They take turns, as next_scratch() says.
Register Translation::record_holder() const {
    constexpr std::size_t kCount = std::size(kHolders);
    for (std::size_t i = 0; i < kCount; ++i)
        if (const Register reg = kHolders[(plan_.segment + i) % kCount]; plan_.at_start[reg] == 0) return reg;
    return kHolders[0];
}

/// Appends the segment's record: its number, and the registers that are known at its start. H is a register that is not
/// stored (AT&T syntax):
///
///   mov  H, %gs:SPILL+H          mov  %gs:TOP, H        the room check    mov H, %gs:TOP
///   movq $SEGMENT, %gs:W0(H)     mov  R, %gs:WN(H)   for each register R    mov  %gs:SPILL+H, H
///
/// With live flags the room check needs rcx, so if the record has that, another register takes its place.
void Translation::emit_record(Emitter& code, bool flags_dead, std::uint32_t budget_payload) {
    if (plan_.segment == 0) return;
    const auto slot = [](Register reg) { return offsetof(Thread, spill) + std::size_t{8} * reg; };
    const Register last = record_holder();
    Register holder = flags_dead ? last : rcx;
    emit_room_check(code, flags_dead, holder, budget_payload);
    if (plan_.at_start[holder] != 0) {
        code.load_gs(holder, slot(holder));
        holder = last;
        code.store_gs(holder, slot(holder));
        code.load_gs(holder, kTop);
    }
    code.mov_gs_at(holder, offset_of_word(0), RecordedSegment::first_word(plan_.segment));
    for (unsigned reg = 0; reg < kRegisters; ++reg)
        if (plan_.at_start[reg] != 0)
            code.store_gs_at(static_cast<Register>(reg), holder, offset_of_word(plan_.at_start[reg]));
    code.load_gs(holder, slot(holder));
}

/// Writes the registers that are captured before, or after, instruction `index`.
void Translation::emit_captures(std::size_t index, bool after) {
    const auto captured = [&](std::size_t number) {
        const RecordingPlan::Capture& one = plan_.captures[number];
        return number < plan_.capture_count && one.instruction == index && one.after == after;
    };
    if (!captured(plan_.next_capture)) return;
    RegisterSet regs = 0;
    std::size_t end = plan_.next_capture;
    for (; captured(end); ++end) regs |= static_cast<RegisterSet>(1u << plan_.captures[end].reg % kRegisters);
    // At most three registers are captured at an instruction, so one of the first four is free.
    const auto holder = static_cast<Register>(__builtin_ctz(~unsigned{regs}));
    spill(holder);
    hot_.load_gs(holder, kTop);
    for (; plan_.next_capture < end; ++plan_.next_capture) {
        const RecordingPlan::Capture& next = plan_.captures[plan_.next_capture];
        if (next.reg == kFsBase) {
            const Register value = holder == rcx ? rdx : rcx;
            spill(value);
            hot_.rdfsbase(value);
            hot_.store_gs_at(value, holder, offset_of_word(next.word));
            unspill(value);
        } else {
            hot_.store_gs_at(static_cast<Register>(next.reg), holder, offset_of_word(next.word));
        }
    }
    unspill(holder);
}

}  // namespace anyperf::engine::x86_64
