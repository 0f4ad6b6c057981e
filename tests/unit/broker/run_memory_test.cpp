// run_memory_test.cpp: the memories of several users, and whose memory has which page and event.
#include "broker/run_memory.h"

#include <gtest/gtest.h>

#include "run/thread_pages.h"

namespace anyperf::broker {
namespace {

constexpr UserIds kOne{1001, 1001};

/// Claims a page in a user's memory, as that user's engines do.
std::uint32_t claim(const RunMemory& memory, UserNumber user) {
    return run::claim_thread_page(memory.use(user), memory.pages_of(user));
}

std::size_t used_pages(const RunMemory& memory) {
    std::size_t count = 0;
    memory.for_each_used_page([&](std::uint32_t) { ++count; });
    return count;
}

TEST(RunMemoryOfUsers, TheSameIdsHaveTheSameMemory) {
    RunMemory memory = *RunMemory::make();
    EXPECT_EQ(memory.users(), 1U);
    EXPECT_EQ(memory.user_with(kOne), UserNumber{1});
    EXPECT_EQ(memory.user_with({1001, 5}), UserNumber{2});
    EXPECT_EQ(memory.user_with(kOne), UserNumber{1});
    EXPECT_EQ(memory.user_with(memory.ids_of(0)), UserNumber{0});
    EXPECT_NE(memory.fd(0), memory.fd(1));
}

TEST(RunMemoryOfUsers, TooManyAreRefused) {
    RunMemory memory = *RunMemory::make();
    for (std::uint32_t uid = 1; uid < run::kMaximumUsers; ++uid) ASSERT_TRUE(memory.user_with({uid + 100000, 1}));
    EXPECT_FALSE(memory.user_with({99, 1}));
}

TEST(RunMemoryOfUsers, NumbersOfPagesAreOfOneUserEach) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    EXPECT_EQ(claim(memory, 0), 0U);
    EXPECT_EQ(claim(memory, 1), run::kPagesOfFirstUser);
    EXPECT_EQ(claim(memory, 1), run::kPagesOfFirstUser + 1);
    EXPECT_EQ(used_pages(memory), 3U);
}

TEST(RunMemoryOfUsers, PagesOfUsersThatTheRunDoesNotHaveAreEmptyPagesOfTheFirst) {
    RunMemory memory = *RunMemory::make();
    for (std::uint32_t page = run::kPagesOfFirstUser; page < run::kMaximumThreadPages; page += run::kPagesOfOtherUser) {
        EXPECT_EQ(memory.user_of_page(page), UserNumber{0});
        EXPECT_EQ(memory.thread_page(page).tid, 0);
    }
    ASSERT_TRUE(memory.user_with(kOne));
    EXPECT_EQ(memory.user_of_page(run::kPagesOfFirstUser), UserNumber{1});
    EXPECT_EQ(memory.user_of_page(run::kPagesOfFirstUser + run::kPagesOfOtherUser), UserNumber{0});
}

TEST(RunMemoryOfUsers, AUserGetsNoPagesOfTheNextOne) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    for (std::uint32_t i = 0; i < run::kPagesOfOtherUser; ++i) ASSERT_NE(claim(memory, 1), run::kNoPage);
    EXPECT_EQ(claim(memory, 1), run::kNoPage);
    EXPECT_EQ(used_pages(memory), std::size_t{run::kPagesOfOtherUser});
}

TEST(RunMemoryOfUsers, AMovedPageHasItsContentInTheNewMemoryOnly) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    const std::uint32_t page = claim(memory, 0);
    run::ThreadPage& before = memory.thread_page(page);
    before.tid = 77;
    before.in_kernel = 1;
    ASSERT_TRUE(memory.move_page(page, 1));
    EXPECT_EQ(memory.user_of_page(page), 1U);
    EXPECT_NE(&memory.thread_page(page), &before);
    EXPECT_EQ(memory.thread_page(page).tid, 77);
    EXPECT_EQ(before.tid, 0);
    EXPECT_NE(claim(memory, 0), page);
    std::size_t seen = 0;
    run::for_each_used_page(memory.use(1), [&](std::uint32_t number) { seen += number == page; });
    EXPECT_EQ(seen, 1U);
}

TEST(RunMemoryOfUsers, AReturnedPageIsFreeWhereItCameFrom) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    const std::uint32_t page = claim(memory, 0);
    ASSERT_TRUE(memory.move_page(page, 1));
    memory.return_page(page);
    EXPECT_EQ(memory.user_of_page(page), 0U);
    EXPECT_EQ(memory.use(1).moved_count, 0U);
    EXPECT_EQ(claim(memory, 0), page);
}

TEST(RunMemoryOfUsers, AMemoryTakesOverABoundedNumberOfPages) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    for (std::uint32_t i = 0; i < run::kMaximumMovedPages; ++i) ASSERT_TRUE(memory.move_page(claim(memory, 0), 1));
    EXPECT_FALSE(memory.move_page(claim(memory, 0), 1));
    memory.return_page(3);
    EXPECT_TRUE(memory.move_page(claim(memory, 0), 1));
}

TEST(RunMemoryOfUsers, ListsInSharedMemoryAreNotReliedOn) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    const std::uint32_t page = claim(memory, 0);
    ASSERT_TRUE(memory.move_page(page, 1));
    memory.use(1).moved_count = ~0U;  // as a program may write it
    memory.use(1).moved_pages[0] = ~0U;
    memory.use(1).thread_pages = ~0U;
    run::for_each_used_page(memory.use(1), [](std::uint32_t number) { EXPECT_LT(number, run::kMaximumThreadPages); });
    EXPECT_EQ(used_pages(memory), 1U + run::kPagesOfOtherUser);
    memory.return_page(page);
    EXPECT_EQ(claim(memory, 0), page);
}

TEST(RunMemoryOfUsers, AnEventsPageIsInTheMemoryOfItsThread) {
    RunMemory memory = *RunMemory::make();
    ASSERT_TRUE(memory.user_with(kOne));
    memory.place_event(5, 0);
    memory.event(5).id = 9;
    subsystem::EventPage& before = memory.event(5);
    memory.move_event(5, 1);
    EXPECT_NE(&memory.event(5), &before);
    EXPECT_EQ(memory.event(5).id, 9U);
    EXPECT_EQ(before.id, 0U);
    memory.place_event(5, 0);  // the next event of this number
    EXPECT_EQ(memory.event(5).id, 0U);
    memory.move_event(5, 1);
    EXPECT_EQ(memory.event(5).id, 0U);
}

}  // namespace
}  // namespace anyperf::broker
