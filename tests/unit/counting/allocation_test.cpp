// allocation_test.cpp: reading counts allocates no memory. This program replaces operator new and counts its calls.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "anyperf/counter.h"
#include "anyperf/counter_set.h"
#include "unit/counting/fake_kernel.h"

namespace {
std::atomic<std::size_t> allocations = 0;
}

// NOLINTNEXTLINE(misc-definitions-in-headers)
void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace anyperf::counting {
namespace {

template <class Work>
std::size_t allocations_of(Work work) {
    const std::size_t before = allocations;
    work();
    return allocations - before;
}

const events::EventGroup kGroup = group_of({event_named("a"), event_named("b", 1), event_named("c", 2)});

TEST(Reading, AllocationsAreSeenByTheReplacedOperatorNew) {
    EXPECT_GE(allocations_of([] { const std::vector<int> vector(100); }), 1);
}

TEST(Reading, OfAGroupAllocatesNothing) {
    FakeKernel kernel;
    auto group = Group::open(kGroup, {}, {}, kernel);
    ASSERT_TRUE(group);
    std::array<Count, 3> counts;
    EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(group->read(counts)); }), 0);
}

TEST(Reading, OfACounterAllocatesNothing) {
    FakeKernel kernel;
    auto counter = Counter::open(event_named("a"), {}, {}, kernel);
    ASSERT_TRUE(counter);
    EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(counter->read()); }), 0);
}

TEST(Reading, OfASetAllocatesNothing) {
    FakeKernel kernel;
    auto set = CounterSet::open(std::array{kGroup}, Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_EQ(allocations_of([&] {
                  ASSERT_TRUE(set->read());
                  EXPECT_NE(set->total(0).raw, 0);
              }),
              0);
}

}  // namespace
}  // namespace anyperf::counting
