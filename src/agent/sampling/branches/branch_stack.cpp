// branch_stack.cpp: translated code records only the two addresses of a branch, and marks those that were mispredicted.
// Its kind is found when a sample is taken, by decoding the instruction at the first address: recording the kind would
// slow down every branch. If the code has changed since, the kind is that of the new code.
#include "agent/sampling/branches/branch_stack.h"

#include <algorithm>

#include "abi/branch_entry.h"
#include "abi/branch_types.h"
#include "abi/sample_bits.h"
#include "agent/agent_state.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/decode.h"

namespace anyperf::agent {

namespace {

using engine::RecordedBranches;
using engine::x86_64::Control;
namespace branch = engine::branch;

consteval std::uint64_t filter(std::string_view name) {
    return abi::bit(abi::kBranchBits, name);
}

/// A bit of branch_sample_type, and the kinds of branches that it selects.
struct FilterRow {
    std::uint64_t bit;
    std::uint8_t kinds;
};

constexpr std::array kFilters{
    FilterRow{filter("PERF_SAMPLE_BRANCH_ANY"), branch::kEvery},
    FilterRow{filter("PERF_SAMPLE_BRANCH_ANY_CALL"), branch::kCall | branch::kIndirectCall},
    FilterRow{filter("PERF_SAMPLE_BRANCH_ANY_RETURN"), branch::kReturn},
    FilterRow{filter("PERF_SAMPLE_BRANCH_IND_CALL"), branch::kIndirectCall},
    FilterRow{filter("PERF_SAMPLE_BRANCH_COND"), branch::kConditional},
    FilterRow{filter("PERF_SAMPLE_BRANCH_CALL_STACK"), branch::kCallStack},
    FilterRow{filter("PERF_SAMPLE_BRANCH_IND_JUMP"), branch::kIndirectJump},
    FilterRow{filter("PERF_SAMPLE_BRANCH_CALL"), branch::kCall},
};

/// A kind of branch: as the decoder and the engine call it, and its type for PERF_SAMPLE_BRANCH_TYPE_SAVE.
struct KindRow {
    Control control;
    std::uint8_t kind;
    std::uint64_t type;
};

consteval std::uint64_t type(std::string_view name) {
    return std::uint64_t{abi::value_of(abi::kBranchKinds, name)};
}

constexpr std::array kKinds{
    KindRow{Control::conditional, branch::kConditional, type("PERF_BR_COND")},
    KindRow{Control::rcx_branch, branch::kConditional, type("PERF_BR_COND")},
    KindRow{Control::jump, branch::kJump, type("PERF_BR_UNCOND")},
    KindRow{Control::jump_indirect, branch::kIndirectJump, type("PERF_BR_IND")},
    KindRow{Control::call, branch::kCall, type("PERF_BR_CALL")},
    KindRow{Control::call_indirect, branch::kIndirectCall, type("PERF_BR_IND_CALL")},
    KindRow{Control::ret, branch::kReturn, type("PERF_BR_RET")},
};
constexpr KindRow kUnknownKind{Control::none, 0, 0};

// Of the third word of struct perf_branch_entry: `mispred`, `predicted`, the lowest bits of `cycles`, `type` and
// `priv`, and PERF_BR_PRIV_USER.
constexpr std::uint64_t kMispredicted = 1;
constexpr std::uint64_t kPredicted = 2;
constexpr unsigned kCyclesBit = 4;
constexpr std::uint64_t kMostCycles = 0xffff;
constexpr unsigned kTypeBit = 20;
constexpr unsigned kLevelBit = 30;
constexpr std::uint64_t kUserLevel = 1;

std::uint64_t filter_of(const EventPage& event) {
    return event.shape.branch_sample_type;
}

/// Whether the filter selects no recorded branch: all of them are in user mode and outside of transactions.
bool selects_nothing(std::uint64_t wanted) {
    const bool in_transactions =
        (wanted & filter("PERF_SAMPLE_BRANCH_IN_TX")) != 0 && (wanted & filter("PERF_SAMPLE_BRANCH_NO_TX")) == 0;
    return in_transactions || (wanted & filter("PERF_SAMPLE_BRANCH_USER")) == 0;
}

/// The kind of the branch at this address; kUnknownKind if the code cannot be read or is not a branch any more.
KindRow kind_at(std::uint64_t from) {
    constexpr std::size_t kLongest = 15;
    std::uint8_t code[kLongest] = {};
    engine::x86_64::Instruction instruction;
    const std::size_t size = engine::x86_64::guarded_prefix(code, engine::at_address<const void>(from), sizeof code);
    if (size == 0 || decode(code, size, instruction) != engine::x86_64::DecodeStatus::ok) return kUnknownKind;
    for (const KindRow& row : kKinds)
        if (row.control == instruction.control) return row;
    return kUnknownKind;
}

/// The cycles from the branch before an entry to it: what the code between them costs, and what mispredictions cost
/// that were found meanwhile. `before`: the entry before it; 0 if that is not known.
std::uint64_t cycles_since(const engine::Thread& thread, const RecordedBranches& ring, std::uint32_t before,
                           std::uint64_t from) {
    if (ring.from[before] == 0) return 0;
    const models::Machine& machine = thread.engine->run->machine;
    const std::uint64_t straight =
        straight_cycles(thread.agent->branch_cycles, RecordedBranches::address(ring.to[before]), from, machine);
    const unsigned mispredicted =
        (RecordedBranches::mark(ring.from[before]) != 0 ? 1U : 0U) + RecordedBranches::mark(ring.to[before]);
    if (straight == 0) return 0;
    return std::min<std::uint64_t>(straight + mispredicted * std::uint64_t{machine.latencies.misprediction},
                                   kMostCycles);
}

std::uint64_t flags_of(std::uint64_t wanted, const KindRow& kind) {
    std::uint64_t flags = 0;
    if ((wanted & filter("PERF_SAMPLE_BRANCH_TYPE_SAVE")) != 0) flags |= kind.type << kTypeBit;
    if ((wanted & filter("PERF_SAMPLE_BRANCH_PRIV_SAVE")) != 0) flags |= kUserLevel << kLevelBit;
    return flags;
}

}  // namespace

std::uint8_t branch_kinds_for(const EventPage& event) {
    const std::uint64_t wanted = filter_of(event);
    if ((event.shape.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) == 0 || selects_nothing(wanted)) return 0;
    std::uint8_t kinds = 0;
    for (const FilterRow& row : kFilters)
        if ((wanted & row.bit) != 0) kinds |= row.kinds;
    return kinds;
}

std::size_t gather_branches(const engine::Thread& thread, const EventPage& event, BranchStack& out) {
    const std::uint8_t kinds = branch_kinds_for(event);
    if (kinds == 0) return 0;
    const std::uint64_t wanted = filter_of(event);
    const bool stack = (kinds & branch::kCallStack) != 0;
    const RecordedBranches& ring = stack ? thread.call_stack : thread.recorded_branches;
    const bool predicted = !stack && thread.models != nullptr && (wanted & filter("PERF_SAMPLE_BRANCH_NO_FLAGS")) == 0;
    // What ran between two entries is known only if there is no branch between them.
    const bool timed = kinds == branch::kEvery && (wanted & filter("PERF_SAMPLE_BRANCH_NO_CYCLES")) == 0;
    std::size_t count = 0;
    for (std::uint32_t back = 1; back <= RecordedBranches::kEntries && count < out.size(); ++back) {
        const std::uint32_t at = (ring.top - back) % RecordedBranches::kEntries;
        // The ring begins as zeros: a 0 is an entry that has never been written.
        if (ring.from[at] == 0) break;
        const std::uint64_t from = RecordedBranches::address(ring.from[at]);
        const KindRow kind = kind_at(from);
        // The ring also has the kinds that other events want. A branch of unknown kind is kept, because this event may
        // want it.
        if (!stack && kind.kind != 0 && (kind.kind & kinds) == 0) continue;
        std::uint64_t flags = flags_of(wanted, kind);
        if (predicted) flags |= RecordedBranches::mark(ring.from[at]) != 0 ? kMispredicted : kPredicted;
        // The newest entry has none (docs/models.md): where it has, `perf report` of Debian 12 frees a map twice.
        if (timed && count != 0 && back < RecordedBranches::kEntries)
            flags |= cycles_since(thread, ring, (at - 1) % RecordedBranches::kEntries, from) << kCyclesBit;
        out[count++] = {from, RecordedBranches::address(ring.to[at]), flags};
    }
    return count;
}

}  // namespace anyperf::agent
