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

}  // namespace
}  // namespace anyperf::perfdata
