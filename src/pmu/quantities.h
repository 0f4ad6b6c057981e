// quantities.h: what the virtual cpu PMU can count: each quantity is a weighted sum of what the engine counts. Exact
// ones are one class of instructions or a few; modelled ones are computed from classes by the cost model of
// docs/models.md.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "engine/x86_64/classes.h"
#include "pmu/cost_model.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

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

/// On which counters of Skylake a quantity can stand, where they are scarce.
enum class Placement : std::uint8_t {
    generic,
    low_four,  ///< generic 0 to 3
    fixed_0,   ///< or a generic one
    fixed_1,   ///< or a generic one
    fixed_2,   ///< and nowhere else
};

struct QuantityRow {
    Quantity quantity;
    std::string_view name;
    subsystem::Source source;
    Placement placement;
    std::string_view note;
};

/// The sum of classes of instructions.
constexpr subsystem::Source exact(std::initializer_list<engine::x86_64::Class> classes) {
    subsystem::Source source{.kind = subsystem::Source::Kind::counters};
    for (const auto each : classes)
        source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(each), .weight = 1};
    return source;
}

/// The same without some that each is one of the others, too.
constexpr subsystem::Source exact_without(std::initializer_list<engine::x86_64::Class> classes,
                                          std::initializer_list<engine::x86_64::Class> without) {
    subsystem::Source source = exact(classes);
    for (const auto each : without)
        source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(each), .weight = -1};
    return source;
}

/// Cycles of the cost model, divided by 2^slower.
constexpr subsystem::Source modelled_cycles(unsigned slower) {
    subsystem::Source source{.kind = subsystem::Source::Kind::counters, .modelled = true, .call_terms = kCallCosts};
    source.shift = static_cast<std::uint8_t>(kCostShift + slower);
    for (const CostRow& row : kCosts)
        source.term[source.terms++] = {.counter = static_cast<std::uint32_t>(row.of), .weight = row.cost};
    return source;
}

/// The time that those cycles take at the clock that is advertised.
constexpr subsystem::Source modelled_nanoseconds() {
    constexpr std::int32_t kTimes = 5;  // 1,000 / 3,200 ns a cycle are 5 / 16
    constexpr unsigned kSixteen = 4;
    static_assert(kTimes * kClockMhz == 1000u << kSixteen);
    subsystem::Source source = modelled_cycles(kSixteen);
    for (unsigned i = 0; i < source.terms; ++i) source.term[i].weight *= kTimes;
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
                "conditional ones alone can be"},
    QuantityRow{Q::far, "far branches", exact({far, syscalls}), P::generic, "system calls are far, as on hardware"},
    QuantityRow{Q::loads, "loads", exact({loads}), P::low_four, ""},
    QuantityRow{Q::stores, "stores", exact({stores}), P::low_four, ""},
    QuantityRow{Q::memory, "loads and stores", exact({loads, stores}), P::low_four,
                "an instruction that does both is two; hardware says one"},
    QuantityRow{Q::cycles, "cycles", modelled_cycles(0), P::fixed_1, "modelled"},
    QuantityRow{Q::reference_cycles, "reference cycles", modelled_cycles(0), P::fixed_2,
                "modelled: the clock never changes, so they are the cycles"},
    QuantityRow{Q::bus_cycles, "bus cycles", modelled_cycles(kCyclesPerBusCycleLog2), P::generic, "modelled"},
};
}  // namespace quantities

inline constexpr auto& kQuantities = quantities::kRows;

constexpr const QuantityRow& row_of(Quantity quantity) {
    return kQuantities[static_cast<std::size_t>(quantity)];
}

static_assert(
    [] {
        for (const QuantityRow& row : kQuantities)
            if (&row_of(row.quantity) != &row) return false;
        return true;
    }(),
    "rows stand in the order of the enum");

}  // namespace anyperf::pmu
