// quantities_test.cpp: what the virtual PMU counts as sums of the engine's counters, and the cycles of the cost model.
#include "pmu/cpu/quantities.h"

#include <gtest/gtest.h>

#include "run/run_state.h"

namespace anyperf::pmu {
namespace {

using subsystem::Source;

std::uint64_t value(const Source& source, const std::uint64_t (&counters)[run::kCounters]) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < source.terms; ++i) sum += counters[source.term[i].counter] * source.term[i].weight;
    return sum >> source.shift;
}

/// A class of instructions, or a quantity of the models.
bool is_counter(std::uint32_t number) {
    if (number < Source::kModelled) return number < engine::x86_64::kClassCount;
    return number - Source::kModelled < models::kQuantities;
}

TEST(Quantities, OfModelsCountNothingThatDecreases) {
    for (const QuantityRow& row : kQuantities)
        if (uses_models(row.source)) {
            EXPECT_TRUE(row.source.modelled) << row.name;
            EXPECT_GT(row.source.most_per_instruction, 0u) << row.name;
        }
}

TEST(Quantities, AreSumsOfCountersOfTheEngine) {
    for (const QuantityRow& row : kQuantities) {
        EXPECT_EQ(row.source.kind, Source::Kind::counters) << row.name;
        EXPECT_GT(row.source.terms, 0) << row.name;
        for (unsigned i = 0; i < row.source.terms; ++i) EXPECT_TRUE(is_counter(row.source.term[i].counter)) << row.name;
    }
}

TEST(Quantities, OfBranchesNotTakenExcludeTakenAndFarOnes) {
    using enum engine::x86_64::Class;
    std::uint64_t counters[run::kCounters] = {};
    counters[static_cast<unsigned>(branches)] = 100;
    counters[static_cast<unsigned>(taken)] = 60;
    counters[static_cast<unsigned>(far)] = 1;
    EXPECT_EQ(value(row_of(Quantity::not_taken).source, counters), 39u);
}

TEST(Quantities, OfMemoryCountAnInstructionThatLoadsAndStoresOnce) {
    using enum engine::x86_64::Class;
    std::uint64_t counters[run::kCounters] = {};
    counters[static_cast<unsigned>(loads)] = 100;
    counters[static_cast<unsigned>(stores)] = 60;
    counters[static_cast<unsigned>(updates)] = 20;
    EXPECT_EQ(value(row_of(Quantity::memory).source, counters), 140u);
}

TEST(Quantities, ThatAreModelledHaveANoteThatSaysSo) {
    for (const QuantityRow& row : kQuantities)
        EXPECT_EQ(row.source.modelled, row.note.starts_with("modelled")) << row.name;
}

TEST(CostModel, ChargesAQuarterOfACycleForAPlainInstruction) {
    std::uint64_t counters[run::kCounters] = {};
    counters[static_cast<unsigned>(engine::x86_64::Class::instructions)] = 4'000'000;
    EXPECT_EQ(value(row_of(Quantity::cycles).source, counters), 1'000'000u);
    EXPECT_EQ(value(row_of(Quantity::reference_cycles).source, counters), 1'000'000u);
    EXPECT_EQ(value(row_of(Quantity::bus_cycles).source, counters), 31'250u) << "100 MHz beside 3,200";
}

TEST(CostModel, GivesAnOrdinaryMixOneToTwoAndAHalfInstructionsPerCycle) {
    using enum engine::x86_64::Class;
    std::uint64_t counters[run::kCounters] = {};
    const auto set = [&counters](engine::x86_64::Class of, std::uint64_t count) {
        counters[static_cast<unsigned>(of)] = count;
    };
    set(instructions, 1'000'000);
    set(loads, 300'000);
    set(stores, 150'000);
    set(conditional, 150'000);
    set(taken, 120'000);
    set(indirect, 10'000);
    const std::uint64_t cycles = value(row_of(Quantity::cycles).source, counters);
    EXPECT_GT(cycles, 400'000u);
    EXPECT_LT(cycles, 1'000'000u);
}

}  // namespace
}  // namespace anyperf::pmu
