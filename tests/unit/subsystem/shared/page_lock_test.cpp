// page_lock_test.cpp: a lock in shared memory, which is taken over from a holder that is dead.
#include "subsystem/shared/page_lock.h"

#include <gtest/gtest.h>

namespace anyperf::subsystem {
namespace {

TEST(PageLock, StoresItsHolder) {
    PageLock lock;
    lock_page(lock, 5, [](std::int32_t) { return false; });
    EXPECT_EQ(lock.holder, 5);
    EXPECT_FALSE(try_lock_page(lock, 6));
    unlock_page(lock, 5);
    EXPECT_TRUE(try_lock_page(lock, 6));
}

TEST(PageLock, IsTakenFromADeadHolder) {
    PageLock lock{.holder = 4};
    int asked = 0;
    lock_page(lock, 5, [&](std::int32_t holder) {
        EXPECT_EQ(holder, 4);
        return ++asked == 3;
    });
    EXPECT_EQ(lock.holder, 5);
    EXPECT_EQ(asked, 3);
}

TEST(PageLock, IsTakenFromAnEarlierThreadOfTheSameId) {
    PageLock lock{.holder = 5};
    lock_page(lock, 5, [](std::int32_t) { return false; });
    EXPECT_EQ(lock.holder, 5);
}

TEST(PageLock, IsNotUnlockedByAHolderPresumedDead) {
    PageLock lock{.holder = 4};
    lock_page(lock, 5, [](std::int32_t) { return true; });
    unlock_page(lock, 4);
    EXPECT_EQ(lock.holder, 5);
}

TEST(PageLock, IsGivenUpWhenItsHolderIsTooSlow) {
    PageLock lock{.holder = 4};
    int asked = 0;
    EXPECT_FALSE(lock_page_or_give_up(
        lock, 5, [&](std::int32_t) { return ++asked == 3 ? HolderState::too_slow : HolderState::lives; }));
    EXPECT_EQ(lock.holder, 4);
    EXPECT_TRUE(lock_page_or_give_up(lock, 5, [](std::int32_t) { return HolderState::gone; }));
    EXPECT_EQ(lock.holder, 5);
}

TEST(PageLock, IsFreeAfterItsScope) {
    PageLock lock;
    {
        const ScopedPageLock held{lock, 5, [](std::int32_t) { return false; }};
    }
    EXPECT_EQ(lock.holder, 0);
}

}  // namespace
}  // namespace anyperf::subsystem
