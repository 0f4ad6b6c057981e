// branches_test.cpp: the branch predictors on streams with known answers.
#include "models/branches/branch_unit.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace anyperf::models {
namespace {

/// The predictors of one core, with their memory.
class Unit {
  public:
    explicit Unit(const BranchUnit& geometry)
        : memory_(Branches::words(geometry)), branches_(geometry, counts_, memory_.data()) {}
    Branches* operator->() { return &branches_; }
    std::uint64_t count(Quantity quantity) const { return counts_[quantity]; }

  private:
    Counts counts_;
    std::vector<std::uint64_t> memory_;
    Branches branches_;
};

constexpr BranchUnit kGshare{.predictor = Predictor::gshare};
constexpr BranchUnit kTage{.predictor = Predictor::tage};

/// The share of 20,000 branches at one site that are mispredicted after 20,000 others.
double rate(const BranchUnit& geometry, const std::function<bool(unsigned)>& direction) {
    Unit unit(geometry);
    constexpr unsigned kBranches = 20'000;
    std::uint64_t before = 0;
    for (unsigned i = 0; i < 2 * kBranches; ++i) {
        if (i == kBranches) before = unit.count(Quantity::conditional_mispredictions);
        unit->conditional(0x401000, 0x400f00, direction(i));
    }
    return static_cast<double>(unit.count(Quantity::conditional_mispredictions) - before) / kBranches;
}

TEST(Branches, ASiteThatAlwaysGoesOneWayIsNeverMispredicted) {
    for (const BranchUnit& geometry : {kGshare, kTage}) {
        Unit unit(geometry);
        for (unsigned i = 0; i < 1000; ++i) {
            unit->conditional(0x1000, 0x2000, true);
            unit->conditional(0x1010, 0x2000, false);
        }
        EXPECT_EQ(0U, unit.count(Quantity::conditional_mispredictions));
    }
}

TEST(Branches, TheFirstTimeThatASiteGoesTheOtherWayIsMispredicted) {
    Unit unit(kGshare);
    unit->conditional(0x1000, 0x2000, true);
    EXPECT_TRUE(unit->conditional(0x1000, 0x2000, false));
    EXPECT_EQ(1U, unit.count(Quantity::conditional_mispredictions));
}

TEST(Branches, RandomDirectionsAreMispredictedHalfOfTheTime) {
    for (const BranchUnit& geometry : {kGshare, kTage}) {
        std::mt19937_64 random(1);
        EXPECT_NEAR(0.5, rate(geometry, [&](unsigned) { return random() % 2 == 0; }), 0.02);
    }
}

TEST(Branches, ALoopOfEightRoundsIsLearned) {
    const auto loop = [](unsigned i) { return i % 8 != 7; };
    EXPECT_LT(rate(kTage, loop), 0.001);
    EXPECT_LT(rate(kGshare, loop), 0.13);  // at worst its exit
}

TEST(Branches, TageLearnsALoopThatIsLongerThanThePathOfGshare) {
    const auto loop = [](unsigned i) { return i % 40 != 39; };
    EXPECT_LT(rate(kTage, loop), 0.002);
    EXPECT_NEAR(rate(kGshare, loop), 1.0 / 40, 0.005);
}

TEST(Branches, BothPredictorsLearnABranchThatRepeatsTheOneBefore) {
    for (const BranchUnit& geometry : {kGshare, kTage}) {
        Unit unit(geometry);
        std::mt19937_64 random(2);
        std::uint64_t wrong = 0;
        for (unsigned i = 0; i < 20'000; ++i) {
            const bool taken = random() % 2 == 0;
            unit->conditional(0x1000, 0x1100, taken);
            const bool second = unit->conditional(0x1200, 0x1300, taken);
            wrong += i >= 10'000 && second ? 1 : 0;
        }
        EXPECT_LT(wrong, 200U);
    }
}

TEST(Branches, AnIndirectCallInAFixedOrderIsLearned) {
    Unit unit(kGshare);
    std::uint64_t before = 0;
    for (unsigned i = 0; i < 2000; ++i) {
        if (i == 1000) before = unit.count(Quantity::indirect_mispredictions);
        unit->indirect_call(0x1000, 0x2000 + i % 5 * 0x100, 0x1005);
    }
    EXPECT_EQ(before, unit.count(Quantity::indirect_mispredictions));
    EXPECT_GE(before, 5U);
}

TEST(Branches, ReturnsArePredictedToTheDepthOfTheStack) {
    BranchUnit geometry = kGshare;
    geometry.return_entries = 16;
    for (const unsigned depth : {16U, 20U}) {
        Unit unit(geometry);
        for (unsigned i = 0; i < depth; ++i) unit->call(0x1005 + i);
        for (unsigned i = depth; i-- > 0;) unit->ret(0x1005 + i);
        EXPECT_EQ(depth - 16, unit.count(Quantity::return_mispredictions));
    }
}

TEST(Branches, AReturnToElsewhereIsMispredicted) {
    Unit unit(kGshare);
    unit->call(0x1005);
    EXPECT_TRUE(unit->ret(0x3000));
}

}  // namespace
}  // namespace anyperf::models
