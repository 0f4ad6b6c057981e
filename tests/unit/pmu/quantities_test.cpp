#include "pmu/quantities.h"

#include <gtest/gtest.h>

#include "engine/run_state.h"

namespace anyperf::pmu {
namespace {

using subsystem::Source;

std::uint64_t value(const Source& source, const std::uint64_t (&counters)[engine::kCounters]) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < source.terms; ++i) sum += counters[source.term[i].counter] * source.term[i].weight;
    return sum >> source.shift;
}

TEST(Quantities, AreSumsOfCountersThatTheEngineHas) {
    for (const QuantityRow& row : kQuantities) {
        EXPECT_EQ(row.source.kind, Source::Kind::counters) << row.name;
        EXPECT_GT(row.source.terms, 0) << row.name;
        for (unsigned i = 0; i < row.source.terms; ++i)
            EXPECT_LT(row.source.term[i].counter, engine::x86_64::kClassCount) << row.name;
    }
}

TEST(Quantities, OfBranchesNotTakenAreTheConditionalOnesThatWentOn) {
    using enum engine::x86_64::Class;
    std::uint64_t counters[engine::kCounters] = {};
    counters[static_cast<unsigned>(branches)] = 100;
    counters[static_cast<unsigned>(taken)] = 60;
    counters[static_cast<unsigned>(far)] = 1;
    EXPECT_EQ(value(row_of(Quantity::not_taken).source, counters), 39u);
}

TEST(Quantities, ThatAreModelledSaySo) {
    for (const QuantityRow& row : kQuantities)
        EXPECT_EQ(row.source.modelled, row.note.starts_with("modelled")) << row.name;
}

TEST(CostModel, TakesAQuarterOfACycleForAPlainInstruction) {
    std::uint64_t counters[engine::kCounters] = {};
    counters[static_cast<unsigned>(engine::x86_64::Class::instructions)] = 4'000'000;
    EXPECT_EQ(value(row_of(Quantity::cycles).source, counters), 1'000'000u);
    EXPECT_EQ(value(row_of(Quantity::reference_cycles).source, counters), 1'000'000u);
    EXPECT_EQ(value(row_of(Quantity::bus_cycles).source, counters), 31'250u) << "100 MHz beside 3,200";
}

TEST(CostModel, GivesAnOrdinaryMixAboutOneInstructionACycle) {
    using enum engine::x86_64::Class;
    std::uint64_t counters[engine::kCounters] = {};
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
