// quantities.h: what the virtual cpu PMU can count. Each quantity is a weighted sum of the engine's instruction classes
// (engine/x86_64/decode/classes.h), so one counter value is computed from several live counters.
//
// Exact quantities add or subtract classes. Modelled quantities weight each class with its cost in cycles
// (cost_model.h, docs/models.md). Nothing else can be counted: caches, branch prediction and stalls have no model here.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "engine/x86_64/decode/classes.h"
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
    cycles,
    reference_cycles,
    bus_cycles,
};

/// The counters of a Skylake that can count a quantity. It matters only if the run limits the number of counters.
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

/// Cycles of the cost model, divided by 2^`divisor_log2`.
constexpr subsystem::Source modelled_cycles(unsigned divisor_log2) {
    subsystem::Source source{
        .kind = subsystem::Source::Kind::counters, .modelled = true, .syscall_terms = kSyscallCostRows};
    source.shift = static_cast<std::uint8_t>(kCostShift + divisor_log2);
    for (const CostRow& row : kCosts)
        source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(row.instruction_class),
                                       .weight = row.cost};
    return source;
}

/// The nanoseconds that those cycles take at the advertised clock: a cycle of 3.2 GHz is 5/16 ns.
constexpr subsystem::Source modelled_nanoseconds() {
    constexpr std::int32_t kMultiplier = 5;
    constexpr unsigned kDivisorLog2 = 4;
    static_assert(kMultiplier * kClockMhz == 1000u << kDivisorLog2);
    subsystem::Source source = modelled_cycles(kDivisorLog2);
    for (unsigned i = 0; i < source.terms; ++i) source.term[i].weight *= kMultiplier;
    return source;
}

namespace quantities {
using enum engine::x86_64::Class;
using Q = Quantity;
using P = Placement;

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
    QuantityRow{Q::cycles, "cycles", modelled_cycles(0), P::fixed_1, "modelled"},
    QuantityRow{Q::reference_cycles, "reference cycles", modelled_cycles(0), P::fixed_2,
                "modelled: the clock never changes, so they equal cycles"},
    QuantityRow{Q::bus_cycles, "bus cycles", modelled_cycles(kCyclesPerBusCycleLog2), P::generic, "modelled"},
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
