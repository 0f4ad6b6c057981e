#include "models/load_latencies.h"

#include <gtest/gtest.h>

namespace anyperf::models {
namespace {

constexpr Latencies kLatencies{
    .l1 = 4, .l2 = 12, .l3 = 40, .memory = 200, .peer = 60, .second_tlb = 7, .page_walk = 30};

TEST(AccessFacts, TakeTheLatencyOfTheSourceAndThatOfTheMissesOfTlbs) {
    EXPECT_EQ((AccessFacts{Source::l1, 0, 0}.latency(kLatencies)), 4u);
    EXPECT_EQ((AccessFacts{Source::l2, 1, 0}.latency(kLatencies)), 12u + 7);
    EXPECT_EQ((AccessFacts{Source::memory, 2, 1}.latency(kLatencies)), 200u + 2 * 7 + 30);
    EXPECT_EQ((AccessFacts{Source::clean_peer, 0, 0}.latency(kLatencies)), 60u);
}

TEST(LoadLatencies, CountTheLoadsThatTakeAtLeastSoLong) {
    LoadLatencies loads;
    EXPECT_EQ(loads.at_least(4, 10), 0u) << "no machine yet";
    loads.begin(kLatencies);
    loads.add({Source::l1, 0, 0}, kLatencies);  // one of the loads that are not counted here
    loads.add({Source::l2, 0, 0}, kLatencies);
    loads.add({Source::l1, 1, 0}, kLatencies);
    for (int i = 0; i < 3; ++i) loads.add({Source::modified_peer, 0, 0}, kLatencies);
    constexpr std::uint64_t kAll = 10;
    EXPECT_EQ(loads.at_least(0, kAll), kAll);
    EXPECT_EQ(loads.at_least(4, kAll), kAll);
    EXPECT_EQ(loads.at_least(5, kAll), 5u);
    EXPECT_EQ(loads.at_least(12, kAll), 4u);
    EXPECT_EQ(loads.at_least(13, kAll), 3u);
    EXPECT_EQ(loads.at_least(60, kAll), 3u);
    EXPECT_EQ(loads.at_least(61, kAll), 0u);
}

}  // namespace
}  // namespace anyperf::models
