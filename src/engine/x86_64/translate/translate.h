// translate.h: translates application code into a block of host code.
//
// What a block consists of, in the arena's hot part and in this order:
// - an indirect entry, if the block is translated for an indirect branch (indirect_entry.h);
// - in a process whose threads have turns that end, the code that charges a step (steps.h). Block::host is the address
//   after it;
// - for each segment a prologue, which counts the segment in advance, and in processes with budgets takes its
//   instructions from the budget (count.cpp). Without counting there is no prologue;
// - for each instruction an access check, while memory is watched (breakpoints.cpp), and its translation: a copy of
//   its bytes (copy_instruction.cpp), unless the instruction depends on its address, uses gs, changes control
//   (branches.cpp) or needs the engine;
// - a direct exit, if the last instruction does not change control.
// The arena's cold part receives what is seldom executed: stubs of exits, constants, mismatch code of indirect entries.
// For each instruction a Mark records where its translation begins and which registers it has spilled (recover.h).
//
// A *segment* is executed entirely or not at all, faults aside. It ends with a conditional branch or with the block. A
// block continues after a forward conditional branch, so that the common way, not taken, costs no jump; the taken way
// is a side exit.
//
// Promises to the rest of the engine:
// - Between two instructions every general register, rsp included, holds the application's value, but for one that a
//   prologue has used and the segment is about to overwrite (Mark::lent). A translation that borrows a register keeps
//   its value in Thread::spill, never on the application's stack: its red zone stays intact.
// - No flag changes except as the instruction itself changes it, or where flags_are_dead() has shown that the value is
//   overwritten before an instruction reads it. A signal frame or a sample in between may show other status flags than
//   a native run: those of the prologue.
// - If an instruction faults, nothing of its translation has taken effect that restore_spilled() does not undo.
//
// It does not optimize: instructions are neither reordered nor combined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/exact/state.h"
#include "engine/freestanding/unset_array.h"
#include "engine/x86_64/cpu/thread.h"
#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/decode/decode_block.h"
#include "engine/x86_64/translate/cost.h"
#include "engine/x86_64/translate/emitter.h"
#include "engine/x86_64/translate/recording_plan.h"
#include "engine/x86_64/translate/relocations.h"
#include "engine/x86_64/translate/tuple_table.h"

namespace anyperf::engine::x86_64 {

// Block::exits is one byte. An instruction has one exit if its memory accesses are checked, and up to two more if it
// may change control.
static_assert(kLongestBlock < TracePiece::kEnd);
static_assert(kLongestBlock + 2 * (kMaximumSideExits + kMaximumCalls + 2) <= 0xff);

inline constexpr models::Machine kDefaultMachine{};

/// What new blocks count. It may grow while the process runs (engine/threads/counting.h); what was
/// translated before is then removed. Each block records the set that it counts (Block::counted).
struct Counting {
    ClassSet open = 0;                ///< classes; 0: blocks count nothing and take nothing from a budget
    bool budgeted = false;            ///< some thread has had a limited budget: blocks take their instructions from it
    bool recording = false;           ///< segments record what they access; only while classes are counted
    bool recording_accesses = false;  ///< while recording: accesses and fetches, not branches alone
    bool checking = false;            ///< while recording_accesses: only what does not repeat is recorded
    bool predicting = false;          ///< code predicts branches itself (predict.h)
    bool reads_fs_base = false;       ///< the kernel lets programs execute rdfsbase
    std::uint8_t line_shift = 0;      ///< while recording: the modelled lines have two to this power bytes
    const models::Machine* machine = &kDefaultMachine;  ///< whose cycles are counted
    ReadableSums sums{};                                ///< what has words of its own, for rdpmc

    bool on() const { return open != 0; }
};

/// The classes of an instruction that its segment's prologue counts. `taken` of a conditional branch is counted where
/// it is taken; an instruction that runs in place (decode.h) is counted after it has run.
ClassSet counted_at_start(const Instruction& instruction);

/// What a segment adds to words of its thread, by their offsets in Thread.
struct WordAdditions {
    /// The word has the same offset in every process.
    static constexpr std::int32_t kFixed = -1;
    struct One {
        std::size_t offset;
        std::int32_t amount;
        std::int32_t tuple;  ///< its number in the relocations, if another process may have another word for it
    };
    std::array<One, 2 * run::kCounters + 1 + kReadableSums> one;
    std::size_t count = 0;

    void add(std::size_t offset, std::int32_t amount, std::int32_t tuple = kFixed) {
        one[count++] = {offset, amount, tuple};
    }
};

/// The offset in Thread of the word of a readable sum.
constexpr std::size_t readable_offset(std::size_t sum) {
    return offsetof(Thread, readable) + offsetof(ReadableWords, word) + sizeof(std::uint64_t) * sum;
}

/// The offset in Thread of a lane of its budget (run/live_counters.h).
constexpr std::size_t lane_offset(std::size_t lane) {
    return offsetof(Thread, page) + offsetof(run::ThreadPage, counters) + offsetof(run::LiveCounters, lane) +
           sizeof(std::int64_t) * lane;
}

/// The offset in Thread of the word that counts the executions of a block.
constexpr std::size_t heat_offset(BlockId block) {
    return offsetof(Thread, heat) + sizeof(std::uint16_t) * (block % kHeatWords);
}

inline constexpr std::size_t kMostPieces = 24;  ///< of a trace

/// How many direct branches flags_are_dead() follows for a prologue. One is enough to decide 89 of 100 blocks, two 92.
inline constexpr unsigned kFlagDepth = 2;

/// A way out of a trace before its end.
struct TraceExit {
    std::uint64_t target;   ///< where it leads
    std::size_t rest;       ///< index of the first instruction that has not run then
    std::int32_t taken;     ///< what to add to the count of taken branches, beside what the rest counts
    std::uint8_t* operand;  ///< of the jump that leads to its code
    bool makes_step = false;
    std::size_t steps = 0;       ///< of the trace, that have not been made then
    std::uint64_t branch = 0;    ///< the conditional branch that leads there; 0: the exit is in front of a branch
    std::int32_t resolving = 0;  ///< of that branch (cost.h)
    std::int32_t calls = 0;      ///< of the trace, that have not returned then
    bool history = false;        ///< the trace's register has gshare's history
};

/// What an exit of a trace adds to each counter.
using TraceAmounts = std::array<std::int32_t, run::kCounters>;

class Checks;

/// Translates one block, once. It owns nothing: blocks, exits and marks are records of the cache. If run() fails, the
/// records that it has allocated stay unused until the cache is emptied.
class Translation {
  public:
    /// `exact`: where the cells of exact counts come from. If it is null or not on, the block counts nothing exactly.
    /// `relocations` receives what storing the block takes; null: the block is not to be stored.
    Translation(Cache& cache, Arena& arena, Counting counting, TupleTable& tuples,
                const ProcessInstrumentation& instrumentation, ExactCounts* exact = nullptr,
                Relocations* relocations = nullptr)
        : cache_(cache),
          arena_(arena),
          counting_(counting),
          tuples_(tuples),
          instrumentation_(instrumentation),
          exact_(exact != nullptr && exact->on() ? exact : nullptr),
          relocations_(relocations),
          marks_count_(counting_.on() || counting_.predicting || exact_ != nullptr || cache.pairs_returns),
          hot_(arena.hot(), arena.to_writable()),
          cold_(arena.cold(), arena.to_writable()) {}

    /// Returns the translated block: its records and its code are complete, but it is not in the cache's table
    /// (Cache::add) and nothing is linked to it. Null if the arena or a pool of records is full, or if the code does
    /// not begin with an instruction. `limit`: the block ends after so many instructions; 0: an ordinary block;
    /// kSingleInstruction: after one instruction, without access checks or breakpoints. A block with a limit charges
    /// lane 0 only. `indirect_entry`: the block begins with an indirect entry, which is not yet in the table.
    /// Preconditions: the cache's lock is held; the bytes of `code` do not change during the call.
    Block* run(const CodeBytes& code, std::uint16_t limit, bool indirect_entry);
    /// After run(): whether the code begins with an instruction.
    bool found_instructions() const { return decoded_.count != 0; }

    /// The block may begin a loop or a function: it counts its executions, if there are traces. Call it before run().
    void count_executions() { counts_executions_ = true; }
    /// A direct branch that goes back arrives at the block.
    void enter_by_step() { entered_by_step_ = true; }

    /// Translates the longest part of a path that a trace can follow (x86_64/traces), at least its first step. Null as
    /// run(); preconditions as there.
    Block* run_trace(const TracePath& path, bool indirect_entry);
    /// The trace may rely on what these sites (models/branches/sites.h) have seen. Call it before run_trace().
    void know_sites(const std::uint8_t* directions) { directions_ = directions; }

  private:
    Block* emit_block(bool indirect_entry);
    bool begin_block(std::uint16_t limit);
    bool keep_marks();
    void decode_instructions(std::uint16_t limit);
    const std::uint8_t* bytes_at(std::uint64_t address) const { return code_.at + (address - code_.pc); }
    void end_before_translated();
    void end_leg();
    void emit_instructions();
    std::uint64_t address_after(std::size_t index, std::uint64_t address) const;
    /// Index after the last instruction of the segment that begins with instruction `first`, as far as counts are
    /// concerned: a trace is counted as a whole.
    std::size_t counted_end(std::size_t first) const {
        return counts_once() ? decoded_.count : decoded_.segment_end(first);
    }
    DecodedTail tail_from(std::size_t index) const {
        return is_trace() ? DecodedTail{} : DecodedTail{&decoded_, index};
    }

    // traces/trace.cpp: blocks that count their executions, and traces
    bool can_be_traced() const;
    /// A trace that predicts branches charges no budget, and notes no calls.
    bool predicts_in_traces() const { return !counting_.budgeted && instrumentation_.branches == 0; }
    bool is_trace() const { return piece_count_ != 0; }
    void emit_heat();
    std::size_t steps_from(std::size_t index) const;
    void emit_steps_of_trace();
    void emit_step_entry();
    void decode_path(const TracePath& path);
    bool decode_step(std::uint64_t pc);
    std::size_t most_calls() const;
    bool continues_to(std::uint64_t address, std::uint64_t next);
    bool begin_trace(const TracePath& path);
    void emit_trace_branch(std::size_t index, std::uint64_t address, std::uint64_t next);
    void emit_trace_conditional(std::size_t index, std::uint64_t address);
    void emit_check(std::size_t index, std::uint64_t address, std::uint64_t expected);
    void end_path();
    void note_checked(const Instruction& instruction, std::uint64_t address, const std::uint8_t* other);
    void unspill_check();
    void emit_indirect_in_trace(std::size_t index, std::uint64_t address, std::uint64_t expected);
    bool fits_tuple() const;
    std::uint64_t find_safe_returns() const;

    // traces/trace_exits.cpp: ways out of a trace before its end
    bool counts_once() const { return is_trace() && counting_.on(); }
    bool is_taken_in_trace(std::size_t index) const;
    ClassSet counted_in_advance(std::size_t index) const;
    /// Whether exits have code of their own, after the trace's end.
    bool exits_apart() const {
        return counts_once() || counting_.predicting || (is_trace() && records(branch::kOpenCalls));
    }
    void leave_trace_if(Condition condition, TraceExit exit);
    void leave_trace(TraceExit exit);
    void emit_trace_exits();
    TraceAmounts correction_of(const TraceExit& exit) const;
    WordAdditions additions_of_exit(TraceAmounts amount);

    // count.cpp: budget and counters
    void emit_prologue(std::size_t first, std::uint64_t pc);
    run::Tuple tuple_of(std::size_t first) const;
    bool counts_cost() const { return (counting_.open & kCostRows) != 0; }
    /// For cycles, or for what mispredictions cost.
    bool needs_costs() const { return counts_cost() || counting_.predicting || counting_.recording; }
    void compute_costs();
    void emit_charge(std::int32_t instructions, bool flags_dead, std::uint32_t budget_payload);
    bool lend_register(std::size_t first);
    WordAdditions additions_of(const run::Tuple& tuple);
    void emit_additions(const WordAdditions& additions, bool flags_dead, std::size_t first);
    void emit_additions(const WordAdditions& additions, bool flags_dead);
    void emit_additions_in(Register reg, const WordAdditions& additions);
    void emit_taken_count(std::uint64_t target);
    void emit_count_alone(const Instruction& instruction, bool flags_dead);

    // read_counter.cpp: rdpmc
    bool reads_counters() const;
    void emit_slot_check(ExitId emulated, bool flags_dead);
    void emit_rdpmc(const Instruction& instruction, std::uint64_t next);

    // count_exact.cpp: cells of exact counts
    void take_exact_cells();
    void emit_exact_count(std::size_t first, std::uint64_t pc);
    bool counts_target(const Instruction& instruction) const;
    std::uint8_t* emit_exact_call();
    void finish_exact_call(std::uint8_t* full);

    // record_accesses.cpp: what the models of caches and branch predictors are fed with
    RegisterSet loaded_by(std::size_t first) const;
    void plan_recording(std::size_t first, std::uint64_t pc, RegisterSet loaded);
    bool plan_within_part(std::size_t index, std::uint64_t pc);
    void plan_fetch(const Instruction& instruction, std::uint64_t address);
    void plan_instruction(std::size_t index, std::uint64_t address);
    void plan_named_access(const Instruction& instruction, std::uint64_t address);
    void plan_implied_access(const Instruction& instruction, std::uint64_t address);
    bool plan_string(const Instruction& instruction);
    void add_access(RecordedAccess access, const Instruction& instruction, bool segmented);
    void follow_registers(const Instruction& instruction, const std::uint8_t* code);
    std::uint8_t word_of(unsigned reg, std::int64_t& displacement, unsigned scale = 0);
    std::uint8_t capture(unsigned reg, bool after);
    void emit_record(Emitter& code, bool flags_dead, std::uint32_t budget_payload);
    void note_prologue(Register reg);
    void emit_room_check(Emitter& code, bool flags_dead, Register holder, std::uint32_t budget_payload);
    Register record_holder() const;
    void emit_captures(std::size_t index, bool after);
    std::size_t offset_of_word(std::uint8_t word) const;

    // check_accesses.cpp: which accesses repeat
    bool can_check(unsigned first) const;
    void begin_part(std::size_t first, std::uint64_t pc, bool flags_dead, std::uint32_t budget_payload);
    void continue_in_part(std::size_t first, std::uint64_t pc);
    /// Registers that comparisons use.
    struct CheckRegisters {
        std::array<Register, 3> reg{};
        std::size_t count = 0;
        bool moves_rax = false;  ///< the third has the value of rax, while that has the flags
    };
    bool borrow_for_checks(bool flags_dead, CheckRegisters& borrowed) const;
    std::uint8_t* enter_checks(bool flags_dead, const CheckRegisters& borrowed);
    void leave_checks(Emitter& code, bool flags_dead, const CheckRegisters& borrowed);
    std::uint64_t compare_accesses(Checks& checks, std::size_t first, std::uint64_t pc);
    void emit_checks(std::size_t first, std::uint64_t pc, bool flags_dead, std::uint32_t budget_payload);

    // record_branches.cpp: the thread's rings of taken branches
    bool records(std::uint8_t kinds) const { return (instrumentation_.branches & kinds) != 0; }
    void record_direct(std::uint8_t kind, std::uint64_t from, std::uint64_t to);
    void record_indirect(std::uint8_t kind, std::uint64_t from);
    void append_branch(std::size_t ring, std::uint64_t from, std::uint64_t to);
    void append_indirect_branch(std::size_t ring, std::uint64_t from);
    void pop_call();
    bool records_every_branch() const { return (instrumentation_.branches & branch::kEvery) == branch::kEvery; }
    void mark_mispredicted();
    void mark_misprediction_after();

    // predict.cpp: branch predictors
    Register next_scratch();
    WordAdditions misprediction_of(models::Quantity quantity) const;
    void count_conditional_misprediction(const std::uint8_t* next);
    void count_misprediction(models::Quantity quantity, const std::uint8_t* next);
    void predict_conditional(std::uint64_t address, std::uint64_t next, bool taken, DecodedTail tail = {});
    bool marks_conditional(bool taken) const { return taken ? records(branch::kConditional) : records_every_branch(); }
    void mark_conditional(bool taken) { taken ? mark_mispredicted() : mark_misprediction_after(); }
    void emit_first_direction(std::uint8_t* from, std::size_t site, bool taken, const std::uint8_t* done);
    /// One way of a conditional branch, in the tables of the thread.
    struct PredictedWay {
        std::size_t site;  ///< offsets in Thread
        std::size_t counter;
        std::uint32_t path;  ///< what enters the history
        bool taken;
    };
    PredictedWay predicted_way(std::uint64_t address, std::uint64_t next, bool taken) const;
    std::uint8_t seen(const PredictedWay& way) const;
    void emit_counter(Emitter& code, const PredictedWay& way);
    void emit_known_one_way(const PredictedWay& way);
    void emit_training(std::uint8_t* from, Register reg, std::size_t counter, bool taken, const std::uint8_t* trained);
    bool ends_in_loop() const;
    void choose_history_register();
    void emit_loop(std::uint64_t target);
    void begin_history();
    void end_history();
    void push_predicted_return(Register reg, std::uint64_t return_address);
    void predict_call(std::uint64_t return_address);
    std::uint8_t* compare_prediction();
    void predict_return();
    void predict_indirect(std::uint64_t address, std::uint8_t kind);
    void predict_call_in_trace(Register reg, std::uint64_t return_address);
    void predict_direct_call_in_trace(std::uint64_t return_address);
    void settle_predicted_returns(std::int32_t calls);
    void end_predictions_of_trace();

    // note_calls.cpp: the thread's open calls
    void write_open_call(std::uint64_t return_address, Register reg);
    void append_open_call(std::uint64_t return_address, Register reg);
    void note_direct_call(std::uint64_t return_address, std::uint64_t to, bool in_trace);
    std::uint8_t* compare_newest_call();
    std::uint8_t* remove_open_call();
    void settle_open_calls(std::int32_t calls);
    void emit_unmatched_return(const Instruction& instruction, std::uint64_t address, std::uint8_t* from);

    // breakpoints.cpp: breakpoints and watched memory
    void end_before_breakpoint();
    void emit_breakpoint();
    void emit_access_check(const Instruction& instruction, std::uint64_t address);
    void emit_filter_lookup(ExitId to);
    void emit_breakpoint_exit(ExitId to);
    bool can_filter_operand(const Instruction& instruction, const std::uint8_t* code) const;

    // copy_instruction.cpp: instructions that are copied, with a new form of their memory operand if needed
    void emit_plain(const Instruction& instruction, std::uint64_t address);
    void emit_rip_relative(const Instruction& instruction, std::uint64_t address);
    void emit_near(const Instruction& instruction, const std::uint8_t* code, std::uint64_t operand);
    void load_effective_address(const Instruction& instruction, std::uint64_t address, Register to);
    void emit_operand_load(const Instruction& instruction, std::uint64_t address, Register to);
    void emit_gs(const Instruction& instruction, std::uint64_t address);
    void emit_gs_string(const Instruction& instruction, const std::uint8_t* code);
    void emit_gs_pointer(const Instruction& instruction, const std::uint8_t* code, Register pointer);
    void emit_gs_absolute(const Instruction& instruction, const std::uint8_t* code);
    void emit_gs_operand(const Instruction& instruction, std::uint64_t address);
    void emit_gs_indexed(const Instruction& instruction, const std::uint8_t* code);
    void emit_prefixes(const Instruction& instruction, const std::uint8_t* code);
    void emit_prefixes_and_opcode(const Instruction& instruction, const std::uint8_t* code, bool keep_index);
    void emit_with_operand_in(const Instruction& instruction, const std::uint8_t* code, Register base);
    void load_operand(const Instruction& instruction, std::uint64_t address, Register to);

    // branches.cpp: how control leaves a block
    void emit_block_end(const Instruction& instruction, std::uint64_t address);
    void emit_side_exit(const Instruction& instruction, std::uint64_t address);
    void emit_conditional(const Instruction& instruction, std::uint64_t address);
    void emit_rcx_branch(const Instruction& instruction, std::uint64_t address);
    void emit_jump(const Instruction& instruction, std::uint64_t address);
    void emit_call(const Instruction& instruction, std::uint64_t address);
    void emit_indirect(const Instruction& instruction, std::uint64_t address);
    void emit_ret(const Instruction& instruction, std::uint64_t address);
    void pop_return_address(const Instruction& instruction);
    void emit_indirect_lookup();
    void push_constant(std::uint64_t value);
    void emit_direct_exit(std::uint64_t target, bool makes_step = false);
    void emit_emulated(const Instruction& instruction, std::uint64_t next);
    void emit_x87_state(const Instruction& instruction, std::uint64_t address);
    // returns.cpp: calls and returns that are paired with the host's
    bool pairs() const;
    bool pairs_call_to(const Instruction& instruction, std::uint64_t return_address) const;
    void end_after_unpaired_call();
    void emit_paired_call(const Instruction& instruction, std::uint64_t address);
    void emit_pad(std::uint64_t return_address, const std::uint8_t* constants);
    void emit_paired_return();
    void emit_call_tails();

    ExitId new_exit(std::uint64_t target, bool makes_step = false);
    void emit_exit(Emitter& code, ExitReason reason, std::uint32_t payload);
    std::uint8_t* exit_stub(ExitReason reason, std::uint32_t payload);
    const std::uint8_t* unlinked_stub(ExitId id, const std::uint8_t* operand);
    void align_operand(std::size_t opcode_bytes);

    void spill(Register reg) { hot_.store_gs(reg, offsetof(Thread, spill) + std::size_t{8} * reg); }
    void unspill(Register reg) { hot_.load_gs(reg, offsetof(Thread, spill) + std::size_t{8} * reg); }
    void mark(std::size_t index, std::uint8_t spilled);

    /// Notes that the bytes at `field`, which has been written with `code`, depend on the block's place.
    void relocate(const Emitter& code, RelocationKind kind, const std::uint8_t* field, std::uint64_t value,
                  std::size_t rest = 0);
    /// The same for the last four bytes that have been written.
    void relocate_last(const Emitter& code, RelocationKind kind, std::uint64_t value) {
        relocate(code, kind, code.at() - 4, value);
    }
    void relocate_to_cold(const std::uint8_t* target) {
        if (relocations_ == nullptr) return;
        relocate_last(hot_, RelocationKind::to_cold, static_cast<std::uint64_t>(target - relocations_->cold));
    }
    /// Code that adds to this word of the thread follows. Returns WordAdditions::One::tuple.
    std::int32_t note_word(std::size_t word) {
        if (relocations_ == nullptr || word < run::kCounters) return WordAdditions::kFixed;
        return relocations_->add_tuple(tuples_.meaning(word));
    }
    /// The last four bytes that have been written are the offset of this word.
    void relocate_word(const WordAdditions::One& word) {
        if (word.tuple != WordAdditions::kFixed)
            relocate_last(hot_, RelocationKind::word, static_cast<std::uint64_t>(word.tuple));
    }
    /// The code has the block's place in a form that can't be relocated.
    void refuse_to_relocate() {
        if (relocations_ != nullptr) relocations_->give_up();
    }
    void finish_relocations();
    CodeRead* code_read() { return relocations_ != nullptr ? &relocations_->read : nullptr; }

    /// The rest of a paired call, after the host's call.
    struct CallTail {
        std::uint8_t* operand;          ///< of the host's call
        const std::uint8_t* constants;  ///< the return address
        std::uint64_t target;           ///< of a direct call; 0: kTargetRegister has it
        bool makes_step;                ///< a direct call does
    };

    Cache& cache_;
    Arena& arena_;
    Counting counting_;
    TupleTable& tuples_;
    const ProcessInstrumentation& instrumentation_;
    ExactCounts* exact_;                ///< null: the block counts nothing exactly
    Relocations* relocations_;          ///< null: the block is not to be stored
    std::uint32_t exact_segments_ = 0;  ///< those that have their cell already
    bool single_instruction_ = false;   ///< the limit is kSingleInstruction
    bool path_leg_ = false;             ///< the limit is kPathLeg
    bool counts_executions_ = false;
    bool entered_by_step_ = false;
    bool marks_count_;  ///< marks say what was counted for an instruction; false: the block counts nothing
    Emitter hot_;
    Emitter cold_;
    CodeBytes code_;
    DecodedBlock decoded_;
    Block* block_ = nullptr;
    BlockId id_ = 0;
    InstructionCosts costs_;                          ///< of the block's instructions; 0 unless needs_costs()
    std::int32_t resolving_ = 0;                      ///< of the instruction that is being translated (cost.h)
    bool out_of_records_ = false;                     ///< no room for an exit: the block can't be used
    std::uint32_t first_recorded_ = 0;                ///< number of the block's first RecordedSegment; 0: none
    RecordingPlan plan_;                              ///< of the current segment, while accesses are recorded
    std::size_t lane_ = 0;                            ///< the lane that the current segment charges
    Register lent_ = rsp;                             ///< the register that the segment's prologue has used; rsp: none
    std::size_t lent_until_ = 0;                      ///< index of the instruction that overwrites it
    std::array<TracePiece, kMostPieces> pieces_;      ///< of a trace
    std::size_t piece_count_ = 0;                     ///< 0: the block is no trace
    std::array<std::uint64_t, kMostPieces> returns_;  ///< of calls in the trace that have not returned there
    std::size_t depth_ = 0;                           ///< number of `returns_`
    const std::uint8_t* directions_ = nullptr;        ///< null: what sites have seen is not known
    Register history_ = rsp;                          ///< the register that has gshare's history; rsp: none
    std::uint32_t scratches_ = 0;                     ///< how often next_scratch() was called
    std::int32_t open_calls_ = 0;                     ///< of the trace so far, that have not returned
    std::uint64_t safe_returns_ = 0;                  ///< by index: returns in the trace that need no check
    UnsetArray<Mark, kLongestBlock + 1> marks_;
    std::array<TraceExit, TracePath::kMost> trace_exits_;
    std::size_t trace_exit_count_ = 0;
    std::array<CallTail, kMaximumCalls + 1> tails_;
    std::size_t tail_count_ = 0;
    std::uint8_t spilled_ = Mark::kNone;  ///< registers that the current instruction spills, as in Mark::spilled
};

}  // namespace anyperf::engine::x86_64
