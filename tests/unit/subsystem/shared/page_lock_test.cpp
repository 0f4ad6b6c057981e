#include "subsystem/shared/page_lock.h"

#include <gtest/gtest.h>

namespace anyperf::subsystem {
namespace {

TEST(PageLock, HoldsWhoHasIt) {
    PageLock lock;
    take(lock, 5, [](std::int32_t) { return false; });
    EXPECT_EQ(lock.holder, 5);
    EXPECT_FALSE(try_take(lock, 6));
    leave(lock, 5);
    EXPECT_TRUE(try_take(lock, 6));
}

TEST(PageLock, IsTakenFromADeadHolder) {
    PageLock lock{.holder = 4};
    int asked = 0;
    take(lock, 5, [&](std::int32_t holder) {
        EXPECT_EQ(holder, 4);
        return ++asked == 3;
    });
    EXPECT_EQ(lock.holder, 5);
    EXPECT_EQ(asked, 3);
}

TEST(PageLock, AnEarlierThreadOfTheSameIdIsDead) {
    PageLock lock{.holder = 5};
    take(lock, 5, [](std::int32_t) { return false; });
    EXPECT_EQ(lock.holder, 5);
}

TEST(PageLock, IsNotLeftByWhoWasTakenForDead) {
    PageLock lock{.holder = 4};
    take(lock, 5, [](std::int32_t) { return true; });
    leave(lock, 4);
    EXPECT_EQ(lock.holder, 5);
}

TEST(PageLock, IsFreeAfterItsScope) {
    PageLock lock;
    {
        const PageHeld held{lock, 5, [](std::int32_t) { return false; }};
    }
    EXPECT_EQ(lock.holder, 0);
}

}  // namespace
}  // namespace anyperf::subsystem
