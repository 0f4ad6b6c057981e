#include "exports/call_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace {

using anyperf::exports::CountedCalls;
using testing::ElementsAre;

/// The costs of the calls, in their order.
std::vector<std::uint64_t> shared(std::initializer_list<std::uint64_t> self, std::vector<CountedCalls> calls) {
    anyperf::exports::share_costs(std::vector(self), calls);
    std::vector<std::uint64_t> costs;
    costs.reserve(calls.size());
    for (const CountedCalls& each : calls) costs.push_back(each.cost);
    return costs;
}

TEST(CallCosts, OneCallerHasTheWholeCost) {
    EXPECT_THAT(shared({1, 10, 100}, {{0, 1, 7}, {1, 2, 3}}), ElementsAre(110, 100));
}

TEST(CallCosts, CallersShareByTheirNumberOfCalls) {
    EXPECT_THAT(shared({1, 10, 90}, {{0, 2, 1}, {0, 1, 1}, {1, 2, 2}}), ElementsAre(30, 70, 60));
}

TEST(CallCosts, SharesAddUpToTheCost) {
    EXPECT_THAT(shared({0, 0, 0, 100}, {{0, 3, 1}, {1, 3, 1}, {2, 3, 1}}), ElementsAre(33, 33, 34));
    const std::uint64_t most = ~std::uint64_t{0};
    EXPECT_THAT(shared({0, 0, most}, {{0, 2, 1'000'000'000'000}, {1, 2, 1'000'000'000'000}}),
                ElementsAre(most / 2, most / 2 + 1));
}

TEST(CallCosts, CallsInACycleHaveNone) {
    EXPECT_THAT(shared({1, 10}, {{0, 1, 1}, {1, 1, 99}}), ElementsAre(10, 0)) << "recursion";
    EXPECT_THAT(shared({1, 10, 20, 5}, {{1, 2, 8}, {2, 1, 8}, {2, 3, 1}, {0, 2, 1}, {0, 1, 6}}),
                ElementsAre(0, 0, 5, 5, 30))
        << "35 for the cycle of 1 and 2, called by 0 seven times";
}

TEST(CallCosts, ALongChainNeedsNoStack) {
    constexpr std::uint32_t kLength = 1'000'000;
    std::vector<std::uint64_t> self(kLength, 1);
    std::vector<CountedCalls> calls;
    for (std::uint32_t i = 0; i + 1 < kLength; ++i) calls.push_back({i, i + 1, 1});
    anyperf::exports::share_costs(self, calls);
    EXPECT_EQ(calls.front().cost, kLength - 1);
}

TEST(CallCosts, FunctionsWithoutCallsAreFine) {
    EXPECT_THAT(shared({}, {}), ElementsAre());
    EXPECT_THAT(shared({3, 0}, {{0, 1, 0}}), ElementsAre(0));
}

}  // namespace
