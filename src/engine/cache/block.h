// block.h: the records of the code cache: a translated block, its marks, exits and indirect entry. There are more of
// them than the program has basic blocks, so they are packed. Records refer to each other by number, so that translated
// code can name one in an immediate; number 0 is no record. cache.h explains when they are made and freed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/x86_64/decode/classes.h"
#include "run/run_state.h"

namespace anyperf::engine {

using BlockId = std::uint32_t;
using ExitId = std::uint32_t;
using IndirectEntryId = std::uint32_t;

inline constexpr std::uint16_t kSingleInstruction = 0x4000;  ///< a value of Block::limit
/// A value of Block::limit: the block is a leg: it ends with its first branch and always leads to the engine, which so
/// learns the path that a trace will follow (engine/traces.h).
inline constexpr std::uint16_t kPathLeg = 0x2000;
/// With a number, a value of Block::limit: the block ends after so many instructions, and always leads to the engine,
/// because the thread's turn ends there.
inline constexpr std::uint16_t kTurnEnd = 0x1000;
inline constexpr std::size_t kLongestBlockBytes = 1024;  ///< of application code; 64 instructions of 15 bytes fit

/// Where the translation of an instruction starts, and which registers it borrows: if it faults, the application's
/// values of those are in the thread's spill slots.
struct Mark {
    std::uint16_t host = 0;  ///< bytes from the start of the block
    std::uint8_t guest_length : 4 = 0;
    std::uint8_t begins_segment : 1 = 0;  ///< 1: the prologue of a new segment precedes it
    std::uint8_t lent : 3 = kNotLent;     ///< a register whose value is in Thread::lent until the instruction has run
    std::uint8_t spilled = kNone;  ///< two register numbers, a nibble each; rsp, which is never spilled, means none

    // What the segment's prologue has counted for it: its classes and its part of the cost of the segment, and of how
    // long that keeps the core busy (x86_64/translate/cost.h).
    std::uint32_t plain_classes : x86_64::kFirstWidth = 0;
    std::uint32_t width : 4 = 0;  ///< one more than the index of its class in kWidthClasses; 0: it is in none
    std::uint32_t counts_twice : 1 = 0;
    std::uint32_t cost : 9 = 0;
    std::uint32_t busy : 4 = 0;

    x86_64::ClassSet classes() const {
        const x86_64::ClassSet of_width = (x86_64::ClassSet{1} << width >> 1) << x86_64::kFirstWidth;
        return plain_classes | of_width | (counts_twice != 0 ? x86_64::kCountsTwice : 0);
    }
    void set_classes(x86_64::ClassSet classes) {
        const x86_64::ClassSet of_width = (classes & x86_64::kWidthClasses) >> x86_64::kFirstWidth;
        plain_classes = classes & ((1u << x86_64::kFirstWidth) - 1);
        width = of_width == 0 ? 0 : (static_cast<unsigned>(__builtin_ctz(of_width)) + 1) & 15u;
        counts_twice = (classes & x86_64::kCountsTwice) != 0;
    }

    static constexpr std::uint8_t kNone = 0x44;
    static constexpr std::uint8_t kNotLent = 4;  ///< rsp, which is never lent
    /// rsi twice: no register is borrowed, but the gs base has been added to rsi, and a fault may come after the
    /// instruction has advanced rsi.
    static constexpr std::uint8_t kDisplacedSource = 0x66;
};
static_assert(sizeof(Mark) == 8);

/// A way out of a block to a known application address.
struct Exit {
    std::int64_t signed_target : 57 = 0;  ///< addresses have 57 bits, sign-extended
    std::uint64_t control_number : 6 = 0;
    std::uint64_t steps : 1 = 0;     ///< a direct branch that goes back: a step of a turn (turns/turn_length.h)
    std::uint64_t from : 22 = 0;     ///< number of its block
    std::uint64_t to : 22 = 0;       ///< number of the block that it is linked to; 0: none
    std::uint64_t operand : 16 = 0;  ///< the rel32 that link() patches, in bytes from the start of `from`; 0: this exit
                                     ///< is never linked
    std::uint64_t length : 4 = 0;  ///< of the instruction that ends at the target, if `control_number` is set; without
                                   ///< one, 1 marks a loop (is_loop()) and 0 any other exit
    ExitId next_incoming = 0;      ///< list of the exits that are linked to `to`
    std::int32_t stub = 0;  ///< where the operand leads while the exit is not linked, in bytes from the operand; of a
                            ///< pad, its word, in bytes from the start of `from`

    std::uint64_t target() const { return static_cast<std::uint64_t>(std::int64_t{signed_target}); }
    void set_target(std::uint64_t address) { signed_target = static_cast<std::int64_t>(address << 7) >> 7; }
    /// Of the instruction of set_emulated_instruction(); of a pad Control::ret; of every other exit Control::none.
    x86_64::Control control() const { return static_cast<x86_64::Control>(control_number); }
    /// Notes the instruction that ends at the target. The block exits before it, and the engine emulates it; or, for
    /// Control::x87_state, the block exits after it, and the engine corrects what it has stored.
    void set_emulated_instruction(const x86_64::Instruction& instruction) {
        control_number = static_cast<std::uint64_t>(instruction.control) & 63u;
        length = instruction.length & 15u;
    }
    /// Makes it the record of a pad (x86_64/translate/returns.cpp), which compares with the word at this distance from
    /// the start of its block. No thread leaves a block by it.
    void set_pad(std::int64_t word) {
        control_number = static_cast<std::uint64_t>(x86_64::Control::ret) & 63u;
        stub = static_cast<std::int32_t>(word);
    }
    bool is_pad() const { return control() == x86_64::Control::ret; }
    /// Makes it the exit that closes a loop: it leads to the start of its own trace, past the code that loads gshare's
    /// history. Until it is linked it leads to the code after it in the trace.
    void set_loop() { length = 1; }
    bool is_loop() const { return control_number == 0 && length != 0; }
};
static_assert(sizeof(Exit) == 24);

/// Where indirect branches to an application address enter (x86_64/translate/indirect_entry.h).
struct IndirectEntry {
    std::uint64_t pc = 0;
    std::uint8_t* host = nullptr;
    std::uint64_t* on_mismatch = nullptr;  ///< the word in its code that leads on branches with another target
    IndirectEntryId next_in_slot = 0;      ///< the next entry of those that share a word of the table
    bool in_table = false;
};

/// A part of a trace that the application has in one place. A trace has its pieces before its marks; the last is no
/// piece but their end.
struct TracePiece {
    std::int64_t signed_pc : 57;  ///< of its first instruction; sign-extended
    std::uint64_t first : 7;      ///< index of that instruction in the trace; of the end kEnd

    static constexpr unsigned kEnd = 127;
    bool is_end() const { return first == kEnd; }
    std::uint64_t pc() const { return static_cast<std::uint64_t>(std::int64_t{signed_pc}); }
};
static_assert(sizeof(TracePiece) == 8);

/// What Block::guest_bytes has room for.
inline constexpr std::uint16_t kMostGuestBytes = (1u << 12) - 1;

/// The code with which a trace loads gshare's history (x86_64/translate/predict.cpp).
inline constexpr std::size_t kHistoryBytes = 19;

/// The code with which a block counts its executions (x86_64/traces/trace.cpp).
inline constexpr std::size_t kHeatBytes = 16;

/// The code in front of a block that charges a step (x86_64/translate/steps.h): if no flag is alive at the block, and
/// if one may be.
inline constexpr std::size_t kStepBytes = 16;
inline constexpr std::size_t kLongStepBytes = 69;

/// Ways into a new block beside forward branches and the engine.
struct Entries {
    bool indirect = false;  ///< an indirect branch arrives
    bool step = false;      ///< a direct branch that goes back arrives
};

/// A translated basic block, several that follow each other, or a trace.
struct Block {
    std::uint64_t pc = 0;
    std::uint8_t* host = nullptr;         ///< its first byte: the prologue of the first segment
    const std::uint8_t* marks = nullptr;  ///< one for each instruction, and one for the end (packed_marks.h); of a
                                          ///< trace they follow its pieces
    const std::uint8_t* code =
        nullptr;  ///< a copy of the application code, if that can change unseen: compared at each entry
    std::uint16_t host_bytes = 0;
    std::uint16_t guest_bytes : 12 = 0;
    std::uint16_t charges_steps : 1 = 0;    ///< its start charges the steps inside of it; only of a trace
    std::uint16_t follows_call : 1 = 0;     ///< set only if its process charges steps
    std::uint16_t has_step_entry : 1 = 0;   ///< code that charges a step is right before it
    std::uint16_t long_step_entry : 1 = 0;  ///< in kLongStepBytes
    std::uint16_t notes_calls : 1 = 0;      ///< calls in it become open calls (instrumentation/open_calls.h)
    std::uint16_t limit : 15 = 0;           ///< the block ends after this many instructions; 0: an ordinary block;
                                   ///< kSingleInstruction: one instruction without instrumentation, then an exit
    std::uint8_t instructions = 0;
    std::uint8_t exits = 0;  ///< number of exits, from first_exit on; translate.h asserts that a byte suffices
    ExitId first_exit = 0;
    ExitId incoming = 0;                 ///< list of the exits that are linked to it
    IndirectEntryId indirect_entry = 0;  ///< made when the first indirect branch arrives; 0: none yet
    BlockId next_in_page = 0;            ///< list of the blocks that begin in the page of pc
    x86_64::ClassSet counted = 0;        ///< classes that its code counts; 0: it has no prologues
    std::uint8_t lane : 3 = 0;           ///< the thread's lane that its first segment charges, if it is budgeted; of a
                                         ///< trace that is not, its history register (x86_64/translate/predict.h)
    bool counts_executions : 1 = false;  ///< it begins by counting its executions, in kHeatBytes of code
    bool trace : 1 = false;              ///< it is a trace: its code is in several pieces
    bool budgeted : 1 = false;           ///< its segments take their instructions from the budget
    bool recorded : 1 = false;           ///< its segments record what they access (recorded_segment.h)
    bool dead : 1 = false;               ///< invalid: nothing leads here any more
    std::uint32_t cells : 24 = 0;        ///< the first of its exact counts (run/exact_counts.h); 0: it has none

    /// If it is recorded: the number of its first RecordedSegment, before its marks. 0: none. The others follow.
    std::uint32_t first_recorded() const {
        std::uint32_t number = 0;
        __builtin_memcpy(&number, marks - sizeof number, sizeof number);
        return number;
    }
    /// Where branches enter that make a step. Precondition: has_step_entry.
    std::uint8_t* step_entry() const { return host - (long_step_entry != 0 ? kLongStepBytes : kStepBytes); }

    /// Of a trace.
    const TracePiece* pieces() const { return reinterpret_cast<const TracePiece*>(marks); }
    const std::uint8_t* packed_marks() const {
        if (!trace) return marks;
        const TracePiece* end = pieces();
        while (!end->is_end()) ++end;
        return reinterpret_cast<const std::uint8_t*>(end + 1);
    }
};
static_assert(sizeof(Block) == 64);

}  // namespace anyperf::engine
