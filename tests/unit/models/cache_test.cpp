// cache_test.cpp: one cache, for each policy of replacement, holds the lines that the plain cache holds.
#include "models/caches/cache.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "unit/models/plain_cache.h"

namespace anyperf::models {
namespace {

using testing::PlainCache;

class EveryPolicy : public ::testing::TestWithParam<Replacement> {};

TEST_P(EveryPolicy, TheCacheHoldsWhatThePlainCacheHolds) {
    for (const std::uint16_t ways : {1, 2, 4, 8, 16, 32}) {
        const CacheGeometry geometry{.sets = 4, .ways = ways, .line_bytes = 64, .replacement = GetParam()};
        std::vector<std::uint64_t> memory(Cache::words(geometry));
        Cache cache(geometry, memory.data());
        PlainCache plain(geometry);
        std::mt19937_64 random(ways);
        for (unsigned i = 0; i < 20'000; ++i) {
            const std::uint64_t line = random() % (geometry.sets * ways * 2);
            const auto state = static_cast<LineState>(1 + random() % 3);
            switch (random() % 8) {
                case 0:
                    cache.remove(line);
                    plain.remove(line);
                    break;
                case 1:
                    cache.set_state(line, state);
                    plain.set_state(line, state);
                    break;
                default:
                    const LineState found = cache.touch(line);
                    ASSERT_EQ(plain.touch(line), found) << ways << " ways, step " << i;
                    if (found != LineState::invalid) break;
                    const Victim victim = cache.insert(line, state);
                    const Victim expected = plain.insert(line, state);
                    ASSERT_EQ(expected.state, victim.state) << ways << " ways, step " << i;
                    if (victim.exists()) {
                        ASSERT_EQ(expected.line, victim.line) << ways << " ways, step " << i;
                    }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy,
                         ::testing::Values(Replacement::lru, Replacement::tree_plru, Replacement::not_recently_used));

TEST(Cache, OneWalkFindsALineOrAddsIt) {
    for (const std::uint16_t ways : {1, 3, 4, 12, 96}) {
        const CacheGeometry geometry{.sets = 2, .ways = ways, .line_bytes = 1, .replacement = Replacement::lru};
        std::vector<std::uint64_t> memory(Cache::words(geometry));
        Cache cache(geometry, memory.data());
        PlainCache plain(geometry);
        std::mt19937_64 random(ways);
        for (unsigned i = 0; i < 20'000; ++i) {
            const std::uint64_t line = random() % (geometry.sets * ways * 3 / 2 + 2);
            const bool held = present(plain.touch(line));
            if (!held) plain.insert(line, LineState::exclusive);
            ASSERT_EQ(held, cache.touch_or_insert(line, LineState::exclusive)) << ways << " ways, step " << i;
            const std::uint64_t other = random() % (geometry.sets * ways * 3 / 2 + 2);
            ASSERT_EQ(plain.find(other), cache.find(other)) << ways << " ways, step " << i;
        }
    }
}

TEST(Cache, ACacheThatDoesNotExistHoldsNothing) {
    Cache cache(CacheGeometry{}, nullptr);
    EXPECT_EQ(LineState::invalid, cache.touch(1));
    EXPECT_FALSE(cache.touch_or_insert(1, LineState::exclusive));
    EXPECT_FALSE(cache.insert(1, LineState::exclusive).exists());
    EXPECT_EQ(LineState::invalid, cache.find(1));
    EXPECT_EQ(LineState::invalid, cache.remove(1));
}

TEST(Cache, LineZeroIsKept) {
    const CacheGeometry geometry{.sets = 1, .ways = 2};
    std::vector<std::uint64_t> memory(Cache::words(geometry));
    Cache cache(geometry, memory.data());
    EXPECT_EQ(LineState::invalid, cache.touch(0));
    cache.insert(0, LineState::shared);
    EXPECT_EQ(LineState::shared, cache.touch(0));
}

}  // namespace
}  // namespace anyperf::models
