// quantities.h: what the virtual cpu PMU can count. Each quantity is a weighted sum of the engine's instruction classes
// (engine/x86_64/decode/classes.h), or of the quantities of the models (models/quantities.h), so one counter value is
// computed from several live counters.
//
// Exact quantities add or subtract classes. Modelled cycles weight each class with its cost (cost_model.h). What
// caches, TLBs and branch predictors do is counted by the models of the run's machine (src/models). docs/models.md
// explains both.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "engine/x86_64/decode/classes.h"
#include "models/quantities.h"
#include "pmu/cpu/cost_model.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

/// What an event counts, whichever encoding named it. docs/models.md defines each.
enum class Quantity : std::uint8_t {
    instructions,
    branches,
    conditional,
    calls,
    returns,
    taken,
    not_taken,
    far,
    loads,
    stores,
    memory,
    scalar_double,
    scalar_single,
    packed_128_double,
    packed_128_single,
    packed_256_double,
    packed_256_single,
    packed_512_double,
    packed_512_single,
    scalar_arithmetic,
    arithmetic_of_4,
    packed_arithmetic_of_256,
    all_arithmetic_of_256,
    double_arithmetic,
    arithmetic_of_8,
    single_arithmetic,
    packed_arithmetic,
    all_arithmetic,
    cycles,
    reference_cycles,
    bus_cycles,
    frontend_stalls,
    backend_stalls,
    stalls,
    issued_slots,
    // What the models of caches, TLBs and branch predictors count.
    branch_misses,
    conditional_misses,
    return_misses,
    l1d_replacements,
    l1i_misses,
    loads_from_l1,
    loads_from_l2,
    loads_from_l3,
    loads_missing_l1,
    loads_missing_l2,
    loads_from_memory,
    loads_from_clean_peer,
    loads_from_modified_peer,
    loads_unshared_l3,
    slow_loads,
    split_loads,
    split_stores,
    l2_data_reads,
    l2_data_read_misses,
    l2_data_read_hits,
    l2_ownership_reads,
    l2_ownership_read_misses,
    l2_ownership_read_hits,
    l2_code_reads,
    l2_code_read_misses,
    l2_code_read_hits,
    l2_prefetches,
    l2_prefetch_misses,
    l2_prefetch_hits,
    l2_demand,
    l2_demand_misses,
    l2_references,
    l2_misses,
    l3_references,
    l3_misses,
    l3_loads,
    l3_load_misses,
    l3_stores,
    l3_store_misses,
    offcore_requests,
    load_walks,
    load_stlb_hits,
    store_walks,
    store_stlb_hits,
    code_walks,
    code_stlb_hits,
    slots_without_code,
    recovery_cycles,
    data_stalls,
    l1d_miss_stalls,
    l2_miss_stalls,
    l3_miss_stalls,
    store_stalls,
};

/// The counters of a Skylake that can count a quantity. Placement matters only if the run limits the number of
/// counters.
enum class Placement : std::uint8_t {
    generic,   ///< any generic counter
    low_four,  ///< generic counters 0 to 3
    fixed_0,   ///< fixed counter 0 or any generic counter
    fixed_1,   ///< fixed counter 1 or any generic counter
    fixed_2,   ///< fixed counter 2 only
};

struct QuantityRow {
    Quantity quantity;
    std::string_view name;
    subsystem::Source source;  ///< how it is computed from the live counters
    Placement placement;
    std::string_view note;  ///< where the count differs from what one may expect
};

/// The sum of these instruction classes.
constexpr subsystem::Source exact(std::initializer_list<engine::x86_64::Class> classes) {
    subsystem::Source source{.kind = subsystem::Source::Kind::counters};
    for (const auto each : classes)
        source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(each), .weight = 1};
    return source;
}

/// The sum of `classes` minus the sum of `without`. Each instruction in `without` must also be in `classes`: a source
/// may never decrease (Source::Term).
constexpr subsystem::Source exact_without(std::initializer_list<engine::x86_64::Class> classes,
                                          std::initializer_list<engine::x86_64::Class> without) {
    subsystem::Source source = exact(classes);
    for (const auto each : without)
        source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(each), .weight = -1};
    return source;
}

/// Floating-point arithmetic of the widths in `units`, a unit mask of FP_ARITH_INST_RETIRED.
constexpr subsystem::Source arithmetic(unsigned units) {
    subsystem::Source source{.kind = subsystem::Source::Kind::counters, .most_per_instruction = 2};
    for (std::uint32_t i = 0; i < engine::x86_64::kWidths; ++i)
        if ((units >> i & 1u) != 0)
            source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(engine::x86_64::kFirstWidth) + i,
                                           .weight = 1};
    return source;
}

/// Modelled cycles, divided by 2^`divisor_log2`: the cost of all segments (engine/x86_64/translate/cost.h), with what
/// misses and mispredictions cost (models/stalls.h) while another event has these modelled, and that of system calls.
constexpr subsystem::Source modelled_cycles(unsigned divisor_log2) {
    using engine::x86_64::kCostUnits;
    subsystem::Source source{
        .kind = subsystem::Source::Kind::counters, .modelled = true, .syscall_terms = kSyscallCostTerms};
    source.shift = static_cast<std::uint8_t>(kCostShift + divisor_log2);
    source.term[source.terms++] = {.counter = engine::x86_64::kCostRow, .weight = 1};
    source.term[source.terms++] = {.counter = engine::x86_64::kLongCostRow, .weight = engine::x86_64::kLongCost};
    source.term[source.terms++] = {.counter = engine::x86_64::kFrontendRow, .weight = 1};
    source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(engine::x86_64::Class::syscalls),
                                   .weight = kSyscallCycles * static_cast<std::int32_t>(kCostUnits)};
    source.most_per_instruction = (kMostCyclesPerInstruction >> divisor_log2) + 1;
    return source;
}

/// A part of the modelled cycles without system calls: the weighted sum of rows of the cost, divided by 2^`shift`.
constexpr subsystem::Source modelled_part(unsigned shift, std::initializer_list<subsystem::Source::Term> rows) {
    subsystem::Source source{
        .kind = subsystem::Source::Kind::counters, .modelled = true, .most_per_instruction = kMostCyclesPerInstruction};
    source.shift = static_cast<std::uint8_t>(shift);
    for (const subsystem::Source::Term& row : rows) source.term[source.terms++] = row;
    return source;
}

inline constexpr subsystem::Source::Term kCostTerm{engine::x86_64::kCostRow, 1};
inline constexpr subsystem::Source::Term kLongCostTerm{engine::x86_64::kLongCostRow, engine::x86_64::kLongCost};
inline constexpr subsystem::Source::Term kFrontendTerm{engine::x86_64::kFrontendRow, 1};
inline constexpr subsystem::Source::Term kIdleTerm{engine::x86_64::kBusyRow, -1};  ///< what is not busy, of the cost

/// A Skylake issues four micro-operations a cycle, so an eighth of a busy cycle is half a slot.
inline constexpr unsigned kSlotShift = 1;
static_assert(engine::x86_64::kCostUnits >> kSlotShift == 4);

/// The most that one instruction other than a REP adds to a modelled count (Source::most_per_instruction). It bounds
/// how soon the next overflow can be.
inline constexpr std::uint32_t kBranch = 1;
inline constexpr std::uint32_t kAccesses = 4;  ///< two operands, each on up to two pages
inline constexpr std::uint32_t kLines = 160;  ///< an xsave area of 3 KiB has 48 lines, each of which may bring two more

/// The sum of these quantities of the models, minus the sum of `without`, which are parts of them.
constexpr subsystem::Source modelled(std::uint32_t most, std::initializer_list<models::Quantity> of,
                                     std::initializer_list<models::Quantity> without = {}) {
    subsystem::Source source{.kind = subsystem::Source::Kind::counters, .modelled = true, .most_per_instruction = most};
    const auto add = [&source](models::Quantity each, std::int32_t weight) {
        const bool predicted = each >= models::Quantity::conditional_mispredictions;
        source.needs_predictions = source.needs_predictions || predicted;
        source.needs_accesses = source.needs_accesses || !predicted;
        source.term[source.terms++] = {.counter = subsystem::Source::kModelled + static_cast<std::uint32_t>(each),
                                       .weight = weight};
    };
    for (const auto each : of) add(each, 1);
    for (const auto each : without) add(each, -1);
    return source;
}

/// Loads by their latency: the number of cycles is added to the counter.
constexpr subsystem::Source slow_loads() {
    subsystem::Source source{
        .kind = subsystem::Source::Kind::counters, .modelled = true, .most_per_instruction = kAccesses};
    source.needs_accesses = true;
    source.term[source.terms++] = {.counter = subsystem::Source::kLoadsOf, .weight = 1};
    return source;
}

/// Cycles that the models find lost, times `weight`. An access may lose more, and then an overflow comes later by it.
constexpr subsystem::Source modelled_stalls(std::initializer_list<models::Quantity> of, std::int32_t weight = 1) {
    subsystem::Source source = modelled(kMostCyclesPerInstruction, of);
    for (unsigned i = 0; i < source.terms; ++i) source.term[i].weight *= weight;
    return source;
}

namespace quantities {
using enum engine::x86_64::Class;
using Q = Quantity;
using P = Placement;
using M = models::Quantity;

// One row for each quantity, in the order of the enum. The models do not count hits of L2 and of the second TLB: these
// are the requests to L2 minus its misses, and the misses of the first TLB minus the page walks. So hits and misses
// always add up.
inline constexpr std::array kRows{
    QuantityRow{Q::instructions, "instructions", exact({instructions}), P::fixed_0, "a REP string instruction is one"},
    QuantityRow{Q::branches, "branches", exact({branches}), P::generic, "syscall is not one"},
    QuantityRow{Q::conditional, "conditional branches", exact({conditional}), P::generic, "taken or not"},
    QuantityRow{Q::calls, "near calls", exact({calls}), P::generic, ""},
    QuantityRow{Q::returns, "near returns", exact({returns}), P::generic, ""},
    QuantityRow{Q::taken, "taken branches", exact({taken}), P::generic, "jumps, calls and returns always are"},
    QuantityRow{Q::not_taken, "branches not taken", exact_without({branches}, {taken, far}), P::generic,
                "only conditional branches can be"},
    QuantityRow{Q::far, "far branches", exact({far, syscalls}), P::generic, "system calls are far, as on hardware"},
    QuantityRow{Q::loads, "loads", exact({loads}), P::low_four, ""},
    QuantityRow{Q::stores, "stores", exact({stores}), P::low_four, ""},
    QuantityRow{Q::memory, "loads and stores", exact_without({loads, stores}, {updates}), P::low_four,
                "an instruction that does both counts once, as on hardware"},
    QuantityRow{Q::scalar_double, "arithmetic on one double", arithmetic(0x1), P::low_four,
                "multiply-add and dot products count twice"},
    QuantityRow{Q::scalar_single, "arithmetic on one float", arithmetic(0x2), P::low_four, ""},
    QuantityRow{Q::packed_128_double, "arithmetic on 2 doubles", arithmetic(0x4), P::low_four, ""},
    QuantityRow{Q::packed_128_single, "arithmetic on 4 floats", arithmetic(0x8), P::low_four, ""},
    QuantityRow{Q::packed_256_double, "arithmetic on 4 doubles", arithmetic(0x10), P::low_four, ""},
    QuantityRow{Q::packed_256_single, "arithmetic on 8 floats", arithmetic(0x20), P::low_four, ""},
    QuantityRow{Q::packed_512_double, "arithmetic on 8 doubles", arithmetic(0x40), P::low_four, ""},
    QuantityRow{Q::packed_512_single, "arithmetic on 16 floats", arithmetic(0x80), P::low_four, ""},
    QuantityRow{Q::scalar_arithmetic, "arithmetic on one float or double", arithmetic(0x3), P::low_four, ""},
    QuantityRow{Q::arithmetic_of_4, "arithmetic on 4 floats or doubles", arithmetic(0x18), P::low_four, ""},
    QuantityRow{Q::packed_arithmetic_of_256, "packed arithmetic of 128 and 256 bits", arithmetic(0x3c), P::low_four,
                ""},
    QuantityRow{Q::all_arithmetic_of_256, "arithmetic of up to 256 bits", arithmetic(0x3f), P::low_four, ""},
    QuantityRow{Q::double_arithmetic, "arithmetic on doubles", arithmetic(0x55), P::low_four, ""},
    QuantityRow{Q::arithmetic_of_8, "arithmetic on 8 floats or doubles", arithmetic(0x60), P::low_four, ""},
    QuantityRow{Q::single_arithmetic, "arithmetic on floats", arithmetic(0xaa), P::low_four, ""},
    QuantityRow{Q::packed_arithmetic, "packed arithmetic of all widths", arithmetic(0xfc), P::low_four, ""},
    QuantityRow{Q::all_arithmetic, "arithmetic of all widths", arithmetic(0xff), P::low_four, ""},
    QuantityRow{Q::cycles, "cycles", modelled_cycles(0), P::fixed_1, "modelled"},
    QuantityRow{Q::reference_cycles, "reference cycles", modelled_cycles(0), P::fixed_2,
                "modelled: the clock never changes, so they equal cycles"},
    QuantityRow{Q::bus_cycles, "bus cycles", modelled_cycles(kCyclesPerBusCycleLog2), P::generic, "modelled"},
    QuantityRow{Q::frontend_stalls, "cycles without instructions", modelled_part(kCostShift, {kFrontendTerm}),
                P::generic,
                "modelled: after mispredictions, and fetches that missed, while another event has these modelled"},
    QuantityRow{Q::backend_stalls, "cycles that wait for results or data",
                modelled_part(kCostShift, {kCostTerm, kLongCostTerm, kIdleTerm}), P::generic,
                "modelled: data is waited for while another event has caches modelled"},
    QuantityRow{Q::stalls, "cycles in which nothing is issued",
                modelled_part(kCostShift, {kCostTerm, kLongCostTerm, kFrontendTerm, kIdleTerm}), P::generic,
                "modelled: both of these"},
    QuantityRow{Q::issued_slots, "issue slots used", modelled_part(kSlotShift, {{engine::x86_64::kBusyRow, 1}}),
                P::generic, "modelled: of four a cycle; what is issued retires"},
    QuantityRow{
        Q::branch_misses, "mispredicted branches",
        modelled(kBranch, {M::conditional_mispredictions, M::indirect_mispredictions, M::return_mispredictions}),
        P::generic, "modelled"},
    QuantityRow{Q::conditional_misses, "mispredicted conditional branches",
                modelled(kBranch, {M::conditional_mispredictions}), P::generic, "modelled"},
    QuantityRow{Q::return_misses, "mispredicted returns", modelled(kBranch, {M::return_mispredictions}), P::generic,
                "modelled"},
    QuantityRow{Q::l1d_replacements, "lines brought into L1D", modelled(kLines, {M::data_lines_filled}), P::generic,
                "modelled: by loads, stores and prefetch"},
    QuantityRow{Q::l1i_misses, "lines brought into L1I", modelled(kLines, {M::code_lines_filled}), P::generic,
                "modelled"},
    QuantityRow{Q::loads_from_l1, "loads from L1", modelled(kAccesses, {M::loads_from_l1}), P::generic,
                "modelled: counts accesses, so a REP string instruction adds one for each iteration"},
    QuantityRow{Q::loads_from_l2, "loads from L2", modelled(kAccesses, {M::loads_from_l2}), P::generic, "modelled"},
    QuantityRow{Q::loads_from_l3, "loads from L3 or another core",
                modelled(kAccesses, {M::loads_from_l3, M::loads_from_clean_peer, M::loads_from_modified_peer}),
                P::generic, "modelled"},
    QuantityRow{Q::loads_missing_l1, "loads that L1 lacked",
                modelled(kAccesses, {M::loads_from_l2, M::loads_from_l3, M::loads_from_clean_peer,
                                     M::loads_from_modified_peer, M::loads_from_memory}),
                P::generic, "modelled"},
    QuantityRow{Q::loads_missing_l2, "loads that L2 lacked",
                modelled(kAccesses, {M::loads_from_l3, M::loads_from_clean_peer, M::loads_from_modified_peer,
                                     M::loads_from_memory}),
                P::generic, "modelled"},
    QuantityRow{Q::loads_from_memory, "loads from memory", modelled(kAccesses, {M::loads_from_memory}), P::generic,
                "modelled"},
    QuantityRow{Q::loads_from_clean_peer, "loads of a line that another core has unchanged",
                modelled(kAccesses, {M::loads_from_clean_peer}), P::generic, "modelled"},
    QuantityRow{Q::loads_from_modified_peer, "loads of a line that another core has changed",
                modelled(kAccesses, {M::loads_from_modified_peer}), P::generic, "modelled"},
    QuantityRow{Q::loads_unshared_l3, "loads from L3 alone", modelled(kAccesses, {M::loads_from_l3}), P::generic,
                "modelled"},
    QuantityRow{Q::slow_loads, "loads that take at least ldlat cycles", slow_loads(), P::low_four,
                "modelled: by where the line was, and the misses of TLBs"},
    QuantityRow{Q::split_loads, "loads over the end of a line", modelled(kAccesses, {M::split_loads}), P::generic,
                "modelled"},
    QuantityRow{Q::split_stores, "stores over the end of a line", modelled(kAccesses, {M::split_stores}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_data_reads, "L2 requests of loads", modelled(kLines, {M::l2_data_reads}), P::generic, "modelled"},
    QuantityRow{Q::l2_data_read_misses, "L2 misses of loads", modelled(kLines, {M::l2_data_misses}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_data_read_hits, "L2 hits of loads", modelled(kLines, {M::l2_data_reads}, {M::l2_data_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::l2_ownership_reads, "L2 requests of stores", modelled(kLines, {M::l2_ownership_reads}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_ownership_read_misses, "L2 misses of stores", modelled(kLines, {M::l2_ownership_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::l2_ownership_read_hits, "L2 hits of stores",
                modelled(kLines, {M::l2_ownership_reads}, {M::l2_ownership_misses}), P::generic, "modelled"},
    QuantityRow{Q::l2_code_reads, "L2 requests of code", modelled(kLines, {M::l2_code_reads}), P::generic, "modelled"},
    QuantityRow{Q::l2_code_read_misses, "L2 misses of code", modelled(kLines, {M::l2_code_misses}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_code_read_hits, "L2 hits of code", modelled(kLines, {M::l2_code_reads}, {M::l2_code_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::l2_prefetches, "L2 requests of prefetches", modelled(kLines, {M::l2_prefetches}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_prefetch_misses, "L2 misses of prefetches", modelled(kLines, {M::l2_prefetch_misses}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_prefetch_hits, "L2 hits of prefetches",
                modelled(kLines, {M::l2_prefetches}, {M::l2_prefetch_misses}), P::generic, "modelled"},
    QuantityRow{Q::l2_demand, "L2 requests without prefetch",
                modelled(kLines, {M::l2_code_reads, M::l2_data_reads, M::l2_ownership_reads}), P::generic, "modelled"},
    QuantityRow{Q::l2_demand_misses, "L2 misses without prefetch",
                modelled(kLines, {M::l2_code_misses, M::l2_data_misses, M::l2_ownership_misses}), P::generic,
                "modelled"},
    QuantityRow{Q::l2_references, "L2 requests",
                modelled(kLines, {M::l2_code_reads, M::l2_data_reads, M::l2_ownership_reads, M::l2_prefetches}),
                P::generic, "modelled"},
    QuantityRow{Q::l2_misses, "L2 misses",
                modelled(kLines, {M::l2_code_misses, M::l2_data_misses, M::l2_ownership_misses, M::l2_prefetch_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::l3_references, "requests to the last level",
                modelled(kLines, {M::l3_code_reads, M::l3_data_reads, M::l3_ownership_reads, M::l3_prefetches}),
                P::generic, "modelled: of code, loads, stores and prefetch"},
    QuantityRow{Q::l3_misses, "misses of the last level",
                modelled(kLines, {M::l3_code_misses, M::l3_data_misses, M::l3_ownership_misses, M::l3_prefetch_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::l3_loads, "loads that reached the last level", modelled(kLines, {M::l3_data_reads}), P::generic,
                "modelled"},
    QuantityRow{Q::l3_load_misses, "loads that the last level lacked", modelled(kLines, {M::l3_data_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::l3_stores, "stores that reached the last level", modelled(kLines, {M::l3_ownership_reads}),
                P::generic, "modelled"},
    QuantityRow{Q::l3_store_misses, "stores that the last level lacked", modelled(kLines, {M::l3_ownership_misses}),
                P::generic, "modelled"},
    QuantityRow{Q::offcore_requests, "requests that left L2", modelled(kLines, {M::l3_data_reads}), P::low_four,
                "modelled: those that config1 chooses (offcore.h)"},
    QuantityRow{Q::load_walks, "page walks of loads", modelled(kAccesses, {M::load_walks}), P::generic, "modelled"},
    QuantityRow{Q::load_stlb_hits, "second TLB hits of loads",
                modelled(kAccesses, {M::load_tlb_misses}, {M::load_walks}), P::generic, "modelled"},
    QuantityRow{Q::store_walks, "page walks of stores", modelled(kAccesses, {M::store_walks}), P::generic, "modelled"},
    QuantityRow{Q::store_stlb_hits, "second TLB hits of stores",
                modelled(kAccesses, {M::store_tlb_misses}, {M::store_walks}), P::generic, "modelled"},
    QuantityRow{Q::code_walks, "page walks of code", modelled(kAccesses, {M::code_walks}), P::generic, "modelled"},
    QuantityRow{Q::code_stlb_hits, "second TLB hits of code",
                modelled(kAccesses, {M::code_tlb_misses}, {M::code_walks}), P::generic, "modelled"},
    QuantityRow{Q::slots_without_code, "issue slots without code", modelled_stalls({M::fetch_stalls}, 4), P::generic,
                "modelled: four for each cycle lost to a fetch that missed"},
    QuantityRow{Q::recovery_cycles, "cycles after mispredictions", modelled_stalls({M::misprediction_stalls}),
                P::generic, "modelled: the machine's penalty for each, and what its branch waited for"},
    QuantityRow{Q::data_stalls, "cycles lost to loads",
                modelled_stalls({M::translation_stalls, M::l2_stalls, M::l3_stalls, M::memory_stalls}), P::generic,
                "modelled"},
    QuantityRow{Q::l1d_miss_stalls, "cycles lost to loads that L1 lacked",
                modelled_stalls({M::l2_stalls, M::l3_stalls, M::memory_stalls}), P::generic, "modelled"},
    QuantityRow{Q::l2_miss_stalls, "cycles lost to loads that L2 lacked",
                modelled_stalls({M::l3_stalls, M::memory_stalls}), P::generic, "modelled"},
    QuantityRow{Q::l3_miss_stalls, "cycles lost to loads from memory", modelled_stalls({M::memory_stalls}), P::generic,
                "modelled"},
    QuantityRow{Q::store_stalls, "cycles lost to stores", modelled_stalls({M::store_stalls}), P::generic, "modelled"},
};
}  // namespace quantities

inline constexpr auto& kQuantities = quantities::kRows;

/// The row of a quantity. The assertion below keeps the rows in the order of the enum.
constexpr const QuantityRow& row_of(Quantity quantity) {
    return kQuantities[static_cast<std::size_t>(quantity)];
}

static_assert(
    [] {
        for (const QuantityRow& row : kQuantities)
            if (&row_of(row.quantity) != &row) return false;
        return true;
    }(),
    "rows are in the order of the enum");

}  // namespace anyperf::pmu
