// user_page_test.cpp: reading a count from perf_event_mmap_page: its seqlock and its arithmetic.
#include "counting/user_page.h"

#include <gtest/gtest.h>

namespace anyperf::counting {
namespace {

using abi::MmapPage;

constexpr auto kReadsCounter = abi::capability("cap_user_rdpmc");
constexpr auto kHasClock = abi::capability("cap_user_time");

MmapPage readable_page() {
    MmapPage page{};
    page.lock = 2;
    page.index = 3;
    page.offset = 1000;
    page.time_enabled = 500;
    page.time_running = 400;
    page.capabilities = kReadsCounter | kHasClock;
    page.pmc_width = 48;
    page.time_mult = 1;
    return page;
}

Instructions fixed() {
    return {[](std::uint32_t index) -> std::uint64_t { return 10 + index; }, []() -> std::uint64_t { return 100; }};
}

TEST(UserPage, CountIsTheOffsetPlusTheIndexedCounter) {
    const auto count = read_user_page(readable_page(), fixed());
    ASSERT_TRUE(count);
    EXPECT_EQ(count->raw, 1000 + 10 + 2);
    EXPECT_EQ(count->enabled_ns, 600);
    EXPECT_EQ(count->running_ns, 500);
}

TEST(UserPage, CounterIsSignExtendedFromItsWidth) {
    MmapPage page = readable_page();
    const Instructions negative{[](std::uint32_t) { return (std::uint64_t{1} << 48) - 5; }, fixed().read_clock};
    EXPECT_EQ(read_user_page(page, negative)->raw, 995);
    page.pmc_width = 64;
    const Instructions wide{[](std::uint32_t) { return ~std::uint64_t{0}; }, fixed().read_clock};
    EXPECT_EQ(read_user_page(page, wide)->raw, 999);
}

TEST(UserPage, ClockIsScaledByMultAndShift) {
    MmapPage page = readable_page();
    page.time_shift = 10;
    page.time_mult = 2048;
    page.time_offset = static_cast<std::uint64_t>(-50);
    const Instructions clock{fixed().read_counter, []() -> std::uint64_t { return 5000; }};
    EXPECT_EQ(read_user_page(page, clock)->enabled_ns, 500 + 10000 - 50);
}

TEST(UserPage, ShortClockIsExtendedFromItsLastValue) {
    MmapPage page = readable_page();
    page.capabilities |= abi::capability("cap_user_time_short");
    page.time_cycles = 0x1'0000'0050;
    page.time_mask = 0xffff'ffff;
    const Instructions clock{fixed().read_counter, []() -> std::uint64_t { return 0x60; }};
    EXPECT_EQ(read_user_page(page, clock)->running_ns, 400 + 0x1'0000'0060);
}

TEST(UserPage, CannotBeReadWithoutCounterPermissionOrClock) {
    MmapPage page = readable_page();
    page.index = 0;
    EXPECT_FALSE(read_user_page(page, fixed()));
    page = readable_page();
    page.capabilities = kHasClock;
    EXPECT_FALSE(read_user_page(page, fixed()));
    page.capabilities = kReadsCounter;
    EXPECT_FALSE(read_user_page(page, fixed()));
    EXPECT_FALSE(read_user_page(readable_page(), {nullptr, nullptr}));
}

/// The page that the fake rdpmc below changes; a plain function pointer captures nothing.
MmapPage* changing_page = nullptr;

TEST(UserPage, IsReadAgainIfTheKernelChangesItDuringTheRead) {
    MmapPage page = readable_page();
    changing_page = &page;
    const Instructions rescheduled{[](std::uint32_t) -> std::uint64_t {
                                       if (changing_page->lock == 2) {  // scheduled out and in on another counter
                                           changing_page->lock = 4;
                                           changing_page->index = 1;
                                           changing_page->offset = 7000;
                                       }
                                       return 1;
                                   },
                                   fixed().read_clock};
    EXPECT_EQ(read_user_page(page, rescheduled)->raw, 7001);
}

}  // namespace
}  // namespace anyperf::counting
