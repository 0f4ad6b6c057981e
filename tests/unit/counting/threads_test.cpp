// threads_test.cpp: counters that several threads open, read and close at once share nothing. Made for the thread
// sanitizer.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "anyperf/counter.h"
#include "unit/counting/fake_kernel.h"

namespace anyperf::counting {
namespace {

constexpr int kThreads = 4;
constexpr int kEach = 250;

TEST(Threads, OpenAndReadAThousandCountersAtOnce) {
    const auto groups = events::parse(events::Machine::read(), "page-faults:u");
    ASSERT_TRUE(groups);
    std::vector<std::uint64_t> totals(kThreads);
    {
        std::vector<std::jthread> threads;
        for (auto& total : totals)
            threads.emplace_back([&] {
                FakeKernel kernel;
                std::vector<Counter> counters;
                for (int i = 0; i < kEach; ++i) {
                    auto counter = Counter::open(groups->front().events.front(), {}, {}, kernel);
                    if (counter) counters.push_back(std::move(*counter));
                }
                for (auto& counter : counters) total += counter.read()->raw > 0 ? 1 : 0;
            });
    }
    EXPECT_EQ(totals, std::vector<std::uint64_t>(kThreads, kEach));
}

TEST(Threads, ShareOneMachine) {
    const auto machine = events::Machine::read();
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 20; ++j) EXPECT_TRUE(events::parse(machine, "page-faults:u,{task-clock,cpu-clock}"));
        });
}

}  // namespace
}  // namespace anyperf::counting
