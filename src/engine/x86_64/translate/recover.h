// recover.h: recovers the application's state in the middle of a translated block.
//
// PROBLEM. A fault, a signal or the end of a budget finds a thread somewhere in host code. The application must see
// registers and a rip that belong to one of its own instructions, and the counters must have counted the instructions
// before it and no other.
//
// MECHANISM. Three things differ from a native run, and the block's marks (cache/block.h) hold what is needed for each:
// - rip: each mark has the host offset at which an instruction's translation begins, and the instruction's length. The
//   sum of the lengths gives the address (locate()).
// - borrowed registers: the mark names up to two. Their values are in Thread::spill while the translation runs.
//   After a fault they are taken from there (restore_spilled()). One mark is special: a string instruction with a gs
//   prefix runs with rsi displaced by the gs base, and moves it (Mark::kDisplacedSource). All other registers are in
//   place, but for one that the segment's prologue has used and the segment has not yet overwritten (Mark::lent). Its
//   value is in Thread::lent, at exact positions too (restore_lent()).
// - counters: a segment's prologue has counted the whole segment. What has not retired is subtracted (uncount_rest()).
// A fault belongs to the instruction that it occurred in the translation of; that instruction has had no effect. An
// asynchronous signal must not be delivered there, since part of the translation has been executed: the signal handler
// single-steps the thread until BlockPosition::exact (signals/handler.cpp).
//
// LIMITS. Only code inside of a block has marks. Stubs, indirect entries and routines are left by single-stepping or by
// their address ranges (routines.h). In a prologue the counters are half updated, so it has no exact position, except
// for the first byte of a block. A prologue itself does not fault.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/x86_64/cpu/thread.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

/// A host address in a block, in terms of the application.
struct BlockPosition {
    Block* block = nullptr;
    std::size_t index = 0;  ///< of the instruction; block->instructions: after the last one
    std::uint64_t pc = 0;   ///< the application's address of that instruction
    bool exact = false;     ///< the host is at the first byte of its translation: nothing of it has been executed
    bool counted = false;   ///< the prologue of its segment has been executed: the segment is counted in full
};

/// The position of `host`. Precondition: it is in the block's host code (Cache::block_at_host).
BlockPosition locate(Block& block, std::uint64_t host);

/// After a fault at `place`: `registers` are the host's; those that the translation has borrowed get the application's
/// values. Not to be used at an exact position, where the spill slots are stale.
void restore_spilled(const Thread& thread, const BlockPosition& place, Registers& registers);

/// At any `place`, after restore_spilled(): a trace's history goes back to the predictors, and its register gets the
/// application's value (predict.cpp).
void leave_history(Thread& thread, const BlockPosition& place, Registers& registers);

/// At any `place`: the register that the prologue of its segment has lent gets the application's value. After
/// restore_spilled(): an instruction may borrow a register that is lent.
void restore_lent(const Thread& thread, const BlockPosition& place, Registers& registers);

/// Where a fault in the code of a paired call or return leaves the application (returns.cpp).
enum class PairedFault {
    none,    ///< the fault is not in such code, or before it has changed anything but the spilled registers
    before,  ///< the call has not happened: as of any other fault
    after,   ///< the return has happened: the application continues at its target
};

/// If a fault at the host address `host`, which locate() has found at `place`, is in the middle of a paired call or
/// return: sets `registers`, which are the host's, to the application's, all but rip in case of PairedFault::before.
/// `place` becomes that of the call.
PairedFault recover_paired(const Thread& thread, std::uint64_t host, BlockPosition& place, Registers& registers);

/// Finishes a return: its target is in kTargetRegister, and both registers of an indirect branch are spilled.
void finish_return(const Thread& thread, Registers& registers);

/// Subtracts what the segment's prologue has counted for the instruction at `place` and those after it. The caller is
/// the thread itself, or its signal handler.
void uncount_rest(Thread& thread, const BlockPosition& place);

/// The same for an instruction at `pc`, an application address in the block. Its segment's prologue has been executed.
void uncount_from(Thread& thread, Block& block, std::uint64_t pc);

/// The steps that a trace charges at its start for its instructions from `index` on (steps.h).
std::int64_t steps_of_trace(const Block& trace, std::size_t index);

/// Adds `amount`, 1 or -1, to the counts of these classes, outside of translated code. `budgeted`: instructions are
/// charged to the budget.
void count_classes(Thread& thread, ClassSet classes, int amount, bool budgeted);

/// Adds `amount`, which may be negative, to the count of a counter, by its row in classes.h.
void add_count(Thread& thread, std::size_t row, std::int64_t amount);

/// Counts the instruction at `pc`, which has been executed outside of any block (Routines::run_in_place), in the
/// open classes. Counts nothing if the instruction can't be read or decoded any more.
void count_instruction(Thread& thread, std::uint64_t pc, const Counting& counting);

}  // namespace anyperf::engine::x86_64
