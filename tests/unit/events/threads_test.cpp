// threads_test.cpp: several threads use one Machine, and load its lazy parts at the same time. Made for the thread
// sanitizer.
#include <thread>

#include "machines.h"

namespace anyperf::events {
namespace {

TEST(Machine, CanBeUsedByManyThreadsAtOnce) {
    const Machine hybrid = machine("intel-hybrid");
    std::vector<std::size_t> counts(4);
    std::vector<std::thread> threads;
    for (std::size_t& count : counts)
        threads.emplace_back([&count, hybrid] {
            for (const char* text :
                 {"cycles:u", "energy-pkg", "cpu_core/mem-loads/", "sched:sched_*", "BR_INST_RETIRED", "nothing"}) {
                const auto groups = parse(hybrid, text);
                count += groups ? groups->size() : 100;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::size_t count : counts) EXPECT_EQ(count, counts.front());
    EXPECT_GT(counts.front(), 100);
}

}  // namespace
}  // namespace anyperf::events
