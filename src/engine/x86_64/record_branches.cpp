// record_branches.cpp: what translated code does while branches are recorded: each that goes elsewhere writes where it
// came from and where it went into a ring of its thread. No flag is touched; a ring has 256 entries, so that an index
// goes round by movzx.
#include "engine/x86_64/landing.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kBranches = offsetof(Thread, branches);
constexpr std::size_t kCalls = offsetof(Thread, calls);
constexpr std::size_t kTop = offsetof(RecordedBranches, top);
constexpr std::size_t kFrom = offsetof(RecordedBranches, from);
constexpr std::size_t kTo = offsetof(RecordedBranches, to);
static_assert(RecordedBranches::kEntries == 256);

}  // namespace

void Translation::put_entry(std::size_t ring, std::uint64_t from, std::uint64_t to) {
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

/// Between an indirect branch and its jump: kTarget is; kOther is spilled.
void Translation::put_indirect_entry(std::size_t ring, std::uint64_t from) {
    spill(rax);
    hot_.load_gs32(kOther, ring + kTop);
    hot_.mov(rax, from);
    hot_.store_gs_by_index(rax, kOther, ring + kFrom);
    hot_.store_gs_by_index(kTarget, kOther, ring + kTo);
    hot_.lea32(kOther, kOther, 1);
    hot_.movzx8(kOther, kOther);
    hot_.store_gs32(kOther, ring + kTop);
    unspill(rax);
}

/// A return takes back the newest call; kOther is spilled.
void Translation::drop_call() {
    spill(rax);
    hot_.load_gs32(kOther, kCalls + kTop);
    hot_.lea32(kOther, kOther, -1);
    hot_.movzx8(kOther, kOther);
    hot_.mov(rax, 0);
    hot_.store_gs_by_index(rax, kOther, kCalls + kFrom);
    hot_.store_gs32(kOther, kCalls + kTop);
    unspill(rax);
}

void Translation::record_direct(std::uint8_t kind, std::uint64_t from, std::uint64_t to) {
    if (records(kind)) put_entry(kBranches, from, to);
    // A call of what follows it only asks where it is.
    const bool asks = to == decoded_.end;
    if (kind == branch::kCall && records(branch::kCallStack) && !asks) put_entry(kCalls, from, to);
}

void Translation::record_indirect(std::uint8_t kind, std::uint64_t from) {
    if (records(kind)) put_indirect_entry(kBranches, from);
    if (!records(branch::kCallStack)) return;
    if (kind == branch::kIndirectCall) put_indirect_entry(kCalls, from);
    if (kind == branch::kReturn) drop_call();
}

}  // namespace anyperf::engine::x86_64
