// record_branches.cpp: records taken branches for samples with a branch stack (PERF_SAMPLE_BRANCH_STACK).
//
// While a thread of the process wants a kind of branch, each taken branch of that kind writes its source and its target
// into a ring of the thread that executes it (RecordedBranches in engine/instrumentation/state.h). A second ring is a
// stack of calls that have not returned (PERF_SAMPLE_BRANCH_CALL_STACK): calls push, returns pop. No flag is touched.
// Both rings have 256 entries, so that movzx of the index's low byte wraps it around. A branch is recorded before it is
// predicted (predict.cpp), so a misprediction marks the newest entry.
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kBranches = offsetof(Thread, recorded_branches);
constexpr std::size_t kCalls = offsetof(Thread, call_stack);
constexpr std::size_t kTop = offsetof(RecordedBranches, top);
constexpr std::size_t kFrom = offsetof(RecordedBranches, from);
constexpr std::size_t kTo = offsetof(RecordedBranches, to);
constexpr std::size_t kMark = RecordedBranches::kMarkByte;
static_assert(RecordedBranches::kEntries == 256);

}  // namespace

/// Appends a branch with a source and target that are known now. Borrows rcx and rax.
void Translation::append_branch(std::size_t ring, std::uint64_t from, std::uint64_t to) {
    spill(rcx);
    spill(rax);
    hot_.load_gs32(rcx, ring + kTop);
    hot_.mov(rax, from);
    hot_.store_gs_by_index(rax, rcx, ring + kFrom);
    hot_.mov(rax, to);
    hot_.store_gs_by_index(rax, rcx, ring + kTo);
    hot_.lea32(rcx, rcx, 1);
    hot_.movzx8(rcx, rcx);
    hot_.store_gs32(rcx, ring + kTop);
    unspill(rax);
    unspill(rcx);
}

/// Appends an indirect branch: after kTargetRegister has its target, before the jump. kScratchRegister is spilled.
void Translation::append_indirect_branch(std::size_t ring, std::uint64_t from) {
    spill(rax);
    hot_.load_gs32(kScratchRegister, ring + kTop);
    hot_.mov(rax, from);
    hot_.store_gs_by_index(rax, kScratchRegister, ring + kFrom);
    hot_.store_gs_by_index(kTargetRegister, kScratchRegister, ring + kTo);
    hot_.lea32(kScratchRegister, kScratchRegister, 1);
    hot_.movzx8(kScratchRegister, kScratchRegister);
    hot_.store_gs32(kScratchRegister, ring + kTop);
    unspill(rax);
}

/// A return removes the newest call: its `from` becomes 0, which marks an empty entry. kScratchRegister is spilled.
void Translation::pop_call() {
    spill(rax);
    hot_.load_gs32(kScratchRegister, kCalls + kTop);
    hot_.lea32(kScratchRegister, kScratchRegister, -1);
    hot_.movzx8(kScratchRegister, kScratchRegister);
    hot_.mov(rax, 0);
    hot_.store_gs_by_index(rax, kScratchRegister, kCalls + kFrom);
    hot_.store_gs32(kScratchRegister, kCalls + kTop);
    unspill(rax);
}

/// In the cold part: the newest entry was mispredicted. No flag changes; rcx is lost.
void Translation::mark_mispredicted() {
    cold_.load_gs32(rcx, kBranches + kTop);
    cold_.lea32(rcx, rcx, -1);
    cold_.movzx8(rcx, rcx);
    cold_.mov_gs8_by_index(rcx, kBranches + kFrom + kMark, RecordedBranches::kMispredicted);
}

/// In the cold part, where flags may change: a branch that was not taken was mispredicted after the newest entry. rcx
/// is lost.
void Translation::mark_misprediction_after() {
    cold_.load_gs32(rcx, kBranches + kTop);
    cold_.lea32(rcx, rcx, -1);
    cold_.movzx8(rcx, rcx);
    cold_.inc_gs8_by_index(rcx, kBranches + kTo + kMark);
}

void Translation::record_direct(std::uint8_t kind, std::uint64_t from, std::uint64_t to) {
    if (records(kind)) append_branch(kBranches, from, to);
    // A call of the next instruction reads the instruction pointer (call; pop). It has no return.
    const bool reads_ip = to == decoded_.end;
    if (kind == branch::kCall && records(branch::kCallStack) && !reads_ip) append_branch(kCalls, from, to);
}

void Translation::record_indirect(std::uint8_t kind, std::uint64_t from) {
    if (records(kind)) append_indirect_branch(kBranches, from);
    if (!records(branch::kCallStack)) return;
    if (kind == branch::kIndirectCall) append_indirect_branch(kCalls, from);
    if (kind == branch::kReturn) pop_call();
}

}  // namespace anyperf::engine::x86_64
