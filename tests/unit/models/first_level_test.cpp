// first_level_test.cpp: a first level, which knows when each line was used, holds the lines that the plain cache holds,
// which keeps each policy's own order.
#include "models/caches/first_level.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "unit/models/plain_cache.h"

namespace anyperf::models {
namespace {

using testing::PlainCache;

class EveryPolicyOfTheFirstLevel : public ::testing::TestWithParam<Replacement> {};

TEST_P(EveryPolicyOfTheFirstLevel, ItHoldsWhatThePlainCacheHolds) {
    for (const std::uint16_t ways : {1, 2, 4, 8, 16, 32}) {
        const CacheGeometry geometry{.sets = 4, .ways = ways, .line_bytes = 64, .replacement = GetParam()};
        std::vector<std::uint64_t> memory(FirstLevel::words(geometry));
        std::uint64_t clock = 0;
        FirstLevel cache(geometry, memory.data(), clock);
        PlainCache plain(geometry);
        std::mt19937_64 random(ways);
        for (unsigned i = 0; i < 20'000; ++i) {
            const std::uint64_t line = random() % (std::uint64_t{geometry.sets} * ways * 2);
            const auto state = static_cast<LineState>(1 + random() % 3);
            switch (random() % 8) {
                case 0:
                    ASSERT_EQ(plain.find(line), cache.remove(line)) << ways << " ways, step " << i;
                    plain.remove(line);
                    break;
                case 1:
                    cache.set_state(line, state);
                    plain.set_state(line, state);
                    break;
                default:
                    ASSERT_EQ(plain.find(line), cache.find(line)) << ways << " ways, step " << i;
                    if (plain.touch(line) != LineState::invalid) {
                        cache.use(cache.place_of(line), line);
                        break;
                    }
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

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicyOfTheFirstLevel,
                         ::testing::Values(Replacement::lru, Replacement::tree_plru, Replacement::not_recently_used));

TEST(FirstLevel, OneWalkFindsALineOrAddsIt) {
    for (const std::uint16_t ways : {1, 3, 4, 12, 96}) {
        const CacheGeometry geometry{.sets = 2, .ways = ways, .line_bytes = 1, .replacement = Replacement::lru};
        std::vector<std::uint64_t> memory(FirstLevel::words(geometry));
        std::uint64_t clock = 0;
        FirstLevel cache(geometry, memory.data(), clock);
        PlainCache plain(geometry);
        std::mt19937_64 random(ways);
        for (unsigned i = 0; i < 20'000; ++i) {
            const std::uint64_t line = random() % (std::uint64_t{geometry.sets} * ways * 3 / 2 + 2);
            const bool held = present(plain.touch(line));
            if (!held) plain.insert(line, LineState::exclusive);
            const auto may_lose = [](std::uint64_t, std::uint64_t, std::uint64_t) { return true; };
            ASSERT_EQ(held, cache.use_or_insert(line, LineState::exclusive, may_lose)) << ways << " ways, step " << i;
            const FirstLevel::Place place = cache.hinted_place(line);
            ASSERT_TRUE(cache.is_plain(place, line, false)) << ways << " ways, step " << i;
            ASSERT_TRUE(cache.is_most_recent(place)) << ways << " ways, step " << i;
        }
    }
}

TEST(FirstLevel, ALineThatRestsIsNotPlainUntilItWakes) {
    const CacheGeometry geometry{.sets = 2, .ways = 4, .line_bytes = 64, .replacement = Replacement::tree_plru};
    std::vector<std::uint64_t> memory(FirstLevel::words(geometry));
    std::uint64_t clock = 0;
    FirstLevel cache(geometry, memory.data(), clock);
    cache.insert(8, LineState::modified);
    const FirstLevel::Place place = cache.place_of(8);
    EXPECT_EQ(1U, cache.time_at(place));
    cache.rest_at(place);
    EXPECT_FALSE(cache.is_plain(place, 8, false));
    EXPECT_EQ(0U, cache.time_at(place));
    EXPECT_EQ(place, cache.place_of(8));
    cache.set_state_at(place, LineState::shared);
    EXPECT_FALSE(cache.is_plain(place, 8, false));
    cache.wake_at(place);
    EXPECT_TRUE(cache.is_plain(place, 8, false));
    EXPECT_FALSE(cache.is_plain(place, 8, true));
    EXPECT_EQ(1U, cache.time_at(place));
}

TEST(FirstLevel, AHitIsPlainIfOnlyItsTimeChanges) {
    const CacheGeometry geometry{.sets = 2, .ways = 4, .line_bytes = 64, .replacement = Replacement::tree_plru};
    std::vector<std::uint64_t> memory(FirstLevel::words(geometry));
    std::uint64_t clock = 0;
    FirstLevel cache(geometry, memory.data(), clock);
    cache.insert(8, LineState::exclusive, true);
    const FirstLevel::Place place = cache.place_of(8);
    EXPECT_FALSE(cache.is_plain(place, 8, false));  // the first one after a prefetch
    EXPECT_TRUE(cache.take_mark_at(place));
    EXPECT_TRUE(cache.is_plain(place, 8, false));
    EXPECT_FALSE(cache.is_plain(place, 8, true));  // a store would change its state
    cache.set_state_at(place, LineState::modified);
    EXPECT_TRUE(cache.is_plain(place, 8, true));
    cache.remove(8);
    EXPECT_FALSE(cache.is_plain(place, 8, false));
}

TEST(FirstLevel, OneThatDoesNotExistHoldsNothing) {
    std::uint64_t clock = 0;
    std::vector<std::uint64_t> memory(FirstLevel::words(CacheGeometry{}) + 1);
    FirstLevel cache(CacheGeometry{}, memory.data(), clock);
    EXPECT_FALSE(cache.exists());
    EXPECT_EQ(FirstLevel::kAbsent, cache.place_of(1));
    EXPECT_EQ(LineState::invalid, cache.find(1));
    EXPECT_EQ(LineState::invalid, cache.remove(1));
}

}  // namespace
}  // namespace anyperf::models
