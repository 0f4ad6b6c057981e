// quantities_test.cpp: what the virtual PMU counts as sums of the engine's counters, and the cycles of the cost model.
#include "pmu/cpu/quantities.h"

#include <gtest/gtest.h>

#include "run/run_state.h"
#include "subsystem/shared/counter_sum.h"

namespace anyperf::pmu {
namespace {

using subsystem::Source;

std::uint64_t value(const Source& source, const std::uint64_t (&counters)[run::kCounters]) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < source.terms; ++i) sum += counters[source.term[i].counter] * source.term[i].weight;
    return sum >> source.shift;
}

/// A class of instructions, a part of the cost of segments, a quantity of the models, or loads by their latency.
bool is_counter(std::uint32_t number) {
    if (number >= Source::kLoadsOf) return number - Source::kLoadsOf <= 0xffff;
    if (number < 32 && (engine::x86_64::kCostRows >> number & 1u) != 0) return true;
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

TEST(Quantities, OfBranchPredictorsNeedNoAccesses) {
    using M = models::Quantity;
    for (const QuantityRow& row : kQuantities) {
        bool of_branches = true;
        for (unsigned i = 0; i < row.source.terms; ++i)
            of_branches &= row.source.term[i].counter < Source::kLoadsOf &&
                           row.source.term[i].counter >=
                               Source::kModelled + static_cast<std::uint32_t>(M::conditional_mispredictions);
        EXPECT_EQ(models_accesses(row.source), uses_models(row.source) && !of_branches) << row.name;
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

TEST(Cycles, AreTheCostOfSegmentsInEighths) {
    std::uint64_t counters[run::kCounters] = {};
    counters[engine::x86_64::kCostRow] = 8'000'000;
    counters[engine::x86_64::kLongCostRow] = 10'000;  // of 16 cycles each
    EXPECT_EQ(value(row_of(Quantity::cycles).source, counters), 1'160'000u);
    EXPECT_EQ(value(row_of(Quantity::reference_cycles).source, counters), 1'160'000u);
    EXPECT_EQ(value(row_of(Quantity::bus_cycles).source, counters), 36'250u) << "100 MHz beside 3,200";
}

TEST(Cycles, AreBusyOrStalled) {
    std::uint64_t counters[run::kCounters] = {};
    counters[engine::x86_64::kCostRow] = 8'000;
    counters[engine::x86_64::kLongCostRow] = 100;
    counters[engine::x86_64::kBusyRow] = 2'400;
    counters[engine::x86_64::kFrontendRow] = 1'600;
    EXPECT_EQ(value(row_of(Quantity::cycles).source, counters), 2'800u);
    EXPECT_EQ(value(row_of(Quantity::frontend_stalls).source, counters), 200u);
    EXPECT_EQ(value(row_of(Quantity::backend_stalls).source, counters), 2'300u);
    EXPECT_EQ(value(row_of(Quantity::stalls).source, counters), 2'500u);
    EXPECT_EQ(value(row_of(Quantity::issued_slots).source, counters), 1'200u) << "four in each of 300 busy cycles";
}

TEST(Arithmetic, IsTheSumOfTheWidthsOfItsUnitMask) {
    using enum engine::x86_64::Class;
    std::uint64_t counters[run::kCounters] = {};
    for (std::size_t i = 0; i < engine::x86_64::kWidths; ++i)
        counters[engine::x86_64::kFirstWidth + i] = std::uint64_t{1} << i;
    EXPECT_EQ(value(row_of(Quantity::packed_256_single).source, counters), 0x20u);
    EXPECT_EQ(value(row_of(Quantity::double_arithmetic).source, counters), 0x55u);
    EXPECT_EQ(value(row_of(Quantity::all_arithmetic).source, counters), 0xffu);
    EXPECT_FALSE(subsystem::counts_cycles(row_of(Quantity::all_arithmetic).source));
}

TEST(Cycles, HaveAHundredForASystemCall) {
    std::uint64_t counters[run::kCounters] = {};
    counters[static_cast<unsigned>(engine::x86_64::Class::syscalls)] = 3;
    EXPECT_EQ(value(row_of(Quantity::cycles).source, counters), 300u);
    EXPECT_EQ(row_of(Quantity::cycles).source.syscall_terms, 1);
}

TEST(Cycles, AreBoundedForEachInstruction) {
    for (const Quantity each : {Quantity::cycles, Quantity::reference_cycles, Quantity::bus_cycles})
        EXPECT_TRUE(subsystem::counts_cycles(row_of(each).source)) << row_of(each).name;
    EXPECT_FALSE(subsystem::counts_cycles(row_of(Quantity::branch_misses).source));
    EXPECT_FALSE(subsystem::counts_cycles(row_of(Quantity::instructions).source));
}

}  // namespace
}  // namespace anyperf::pmu
