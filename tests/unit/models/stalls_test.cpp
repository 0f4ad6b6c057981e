// stalls_test.cpp: what misses and mispredictions cost, by the rules of models/stalls.h.
#include "models/stalls.h"

#include <gtest/gtest.h>

namespace anyperf::models {
namespace {

constexpr unsigned kMemory = 300;
constexpr unsigned kHidden = 25;
constexpr unsigned kMisses = 4;

/// A machine whose memory takes 300 cycles, with room for four misses in a window of 160 instructions, which is 50
/// words.
Machine machine() {
    Machine made;
    made.latencies.memory = kMemory;
    made.latencies.misprediction = 20;
    made.pipeline.misses = kMisses;
    made.pipeline.window = 160;
    return made;
}

class StallsTest : public ::testing::Test {
  protected:
    void load(std::uint64_t position, bool waits = false) {
        stalls_.at(position);
        stalls_.accessed({.source = Source::memory, .tlb_misses = 0, .page_walks = 0}, Access::load, waits);
    }
    std::uint64_t of_memory() { return stalls_.take().of_data[static_cast<std::size_t>(Stalls::Data::memory)]; }

    const Machine machine_ = machine();
    Stalls stalls_{machine_};
};

TEST_F(StallsTest, OneMissCostsItsLatencyWithoutWhatIsHidden) {
    load(0);
    EXPECT_EQ(of_memory(), kMemory - kHidden);
}

TEST_F(StallsTest, MissesOfAWindowCostWhatOneDoesWhileThereIsRoom) {
    for (std::uint64_t i = 0; i < kMisses; ++i) load(i);
    EXPECT_EQ(of_memory(), kMemory - kHidden);
}

TEST_F(StallsTest, AMissWithoutRoomCostsItsShare) {
    for (std::uint64_t i = 0; i < kMisses + 2; ++i) load(i);
    EXPECT_EQ(of_memory(), kMemory - kHidden + 2 * (kMemory / kMisses));
}

TEST_F(StallsTest, AMissAfterTheWindowBeginsAnotherOne) {
    load(0);
    load(49);
    EXPECT_EQ(of_memory(), kMemory - kHidden);
    load(50);
    EXPECT_EQ(of_memory(), kMemory - kHidden);
}

TEST_F(StallsTest, ALoadThatWaitsForAnotherCostsAllButAHit) {
    load(0, true);
    load(1, true);
    EXPECT_EQ(of_memory(), 2 * (kMemory - machine_.latencies.l1));
}

TEST_F(StallsTest, MispredictionsCostThePenaltyAndWhatTheirBranchesWaitedFor) {
    stalls_.mispredicted(3);
    stalls_.resolved(7);
    EXPECT_EQ(stalls_.take().mispredicted, 3 * 20 + 7);
}

}  // namespace
}  // namespace anyperf::models
