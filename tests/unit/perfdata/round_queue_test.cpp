#include "perfdata/round_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace anyperf::perfdata {
namespace {

const std::array<std::byte, 8> kRecord{};

std::vector<std::uint64_t> delivered(RoundQueue& queue, bool all) {
    std::vector<std::uint64_t> times;
    const auto deliver = [&](const RoundQueue::Entry& entry) { times.push_back(entry.time); };
    all ? queue.end(deliver) : queue.end_round(deliver);
    return times;
}

using Times = std::vector<std::uint64_t>;

TEST(RoundQueue, DeliversAtAMarkWhatIsNotNewerThanTheRecordsBeforeTheMarkBeforeIt) {
    RoundQueue queue;
    for (const std::uint64_t time : {10, 30, 5, 20}) queue.add_copy(time, kRecord, 0);
    EXPECT_EQ(delivered(queue, false), Times{});
    for (const std::uint64_t time : {40, 25, 35}) queue.add_copy(time, kRecord, 0);
    EXPECT_EQ(delivered(queue, false), (Times{5, 10, 20, 25, 30}));
    EXPECT_EQ(delivered(queue, true), (Times{35, 40}));
}

TEST(RoundQueue, EqualTimesKeepTheOrderOfTheFile) {
    RoundQueue queue;
    for (const std::uint32_t event : {0u, 1u, 2u}) queue.add_stable(7, kRecord, event);
    queue.add_stable(1, kRecord, 3);
    queue.add_stable(7, kRecord, 4);
    std::vector<std::uint32_t> events;
    queue.end([&](const RoundQueue::Entry& entry) { events.push_back(entry.event); });
    EXPECT_EQ(events, (std::vector<std::uint32_t>{3, 0, 1, 2, 4}));
}

TEST(RoundQueue, ManyRunsAreMergedInOrder) {
    RoundQueue queue;
    for (std::uint64_t run = 0; run < 37; ++run)
        for (std::uint64_t i = 0; i < 100; ++i) queue.add_copy(i * 37 + (run * 11) % 37, kRecord, 0);
    const Times times = delivered(queue, true);
    EXPECT_EQ(times.size(), 3700u);
    EXPECT_TRUE(std::ranges::is_sorted(times));
}

// A record of the future waits while its neighbours come and go, and so do those whose runs began after it.
TEST(RoundQueue, ARecordThatWaitsLongKeepsItsPlace) {
    RoundQueue queue;
    queue.add_copy(1'000'000, kRecord, 7);
    Times times;
    const auto deliver = [&](const RoundQueue::Entry& entry) { times.push_back(entry.time); };
    for (std::uint64_t time = 1; time <= 20'000; time += 2) {
        queue.add_copy(time + 1, kRecord, 0);
        queue.add_copy(time, kRecord, 0);
        queue.deliver_until(time / 2, deliver);
    }
    EXPECT_EQ(times.size(), 9'999u);
    queue.end(deliver);
    ASSERT_EQ(times.size(), 20'001u);
    EXPECT_TRUE(std::ranges::is_sorted(times));
    EXPECT_EQ(times.back(), 1'000'000u);
}

TEST(RoundQueue, GoesOnAfterItWasEmpty) {
    RoundQueue queue;
    for (std::uint64_t round = 0; round < 5; ++round) {
        for (std::uint64_t i = 0; i < 1024; ++i) queue.add_stable(i, kRecord, 0);
        EXPECT_EQ(delivered(queue, true).size(), 1024u);
    }
}

TEST(RoundQueue, ShrinksByTheOlderHalf) {
    RoundQueue queue;
    for (std::uint64_t time = 100; time > 0; --time) queue.add_stable(time, kRecord, 0);
    Times times;
    queue.shrink([&](const RoundQueue::Entry& entry) { times.push_back(entry.time); });
    EXPECT_EQ(times.size(), 50u);
    EXPECT_EQ(times.back(), 50u);
}

TEST(RoundQueue, FindsTheLowestRecordThatWaits) {
    const std::array<std::byte, 64> memory{};
    const auto at = [&](std::size_t offset) { return Bytes{memory}.subspan(offset, 8); };
    RoundQueue queue;
    EXPECT_EQ(queue.lowest_in(memory), nullptr);
    queue.add_copy(1, kRecord, 0);
    queue.add_stable(9, at(0), 0);
    queue.add_stable(5, at(8), 0);
    queue.add_stable(30, at(16), 0);
    EXPECT_EQ(queue.lowest_in(memory), memory.data());
    queue.deliver_until(10, [](const RoundQueue::Entry&) {});
    EXPECT_EQ(queue.lowest_in(memory), &memory[16]);
}

}  // namespace
}  // namespace anyperf::perfdata
