// full_tables_test.cpp: the engine's tables of fixed size report that they are full, and what they hold already is
// unaffected.
#include <gtest/gtest.h>

#include <memory>

#include "engine/freestanding/own_pages.h"
#include "engine/instrumentation/state.h"

namespace anyperf::engine {
namespace {

TEST(AddressCounts, RefuseAnAddressBeyondTheirRoom) {
    AddressCounts<16> counts{};
    for (std::uint64_t pc = 1; pc <= 8; ++pc) EXPECT_TRUE(counts.add(pc));
    EXPECT_FALSE(counts.add(9));
    EXPECT_FALSE(counts.holds(9));
    EXPECT_TRUE(counts.add(8)) << "another user of a known address needs no room";
    EXPECT_FALSE(counts.remove(9)) << "it was not added";
}

TEST(AddressCounts, HaveRoomAgainAfterARemoval) {
    AddressCounts<16> counts{};
    for (std::uint64_t pc = 1; pc <= 8; ++pc) counts.add(pc);
    EXPECT_TRUE(counts.remove(3));
    EXPECT_TRUE(counts.add(9));
    for (const std::uint64_t pc : {1, 2, 4, 5, 6, 7, 8, 9}) EXPECT_TRUE(counts.holds(pc)) << pc;
}

TEST(AddressCounts, ForgetEverythingWithTheLastUser) {
    AddressCounts<16> counts{};
    counts.add(1);
    counts.add(17);
    counts.add(17);
    EXPECT_TRUE(counts.remove(1));
    EXPECT_FALSE(counts.remove(17)) << "it has another user";
    EXPECT_TRUE(counts.remove(17));
    EXPECT_FALSE(counts.any());
    for (std::uint64_t pc = 100; pc < 108; ++pc) EXPECT_TRUE(counts.add(pc)) << pc;
}

TEST(OwnPages, RefuseARangeBeyondTheirCapacity) {
    constexpr std::uint64_t kPage = 4096;
    const auto pages = std::make_unique<OwnPages>();
    for (std::uint64_t i = 0; i < OwnPages::kCapacity; ++i) ASSERT_TRUE(pages->add(2 * i * kPage, (2 * i + 1) * kPage));
    constexpr std::uint64_t kBeyond = 2 * OwnPages::kCapacity * kPage;
    EXPECT_FALSE(pages->add(kBeyond, kBeyond + kPage));
    EXPECT_FALSE(pages->touches(kBeyond, kBeyond + kPage));
    EXPECT_EQ(pages->bytes(), OwnPages::kCapacity * kPage);
    pages->remove(4 * kPage, 5 * kPage);
    EXPECT_TRUE(pages->add(kBeyond, kBeyond + kPage));
    EXPECT_TRUE(pages->touches(kBeyond, kBeyond + kPage));
}

TEST(OwnPages, GivePlacesOfTheirAreaThatAreNotTaken) {
    constexpr std::uint64_t kPage = 4096;
    const auto pages = std::make_unique<OwnPages>();
    EXPECT_EQ(pages->next_place(kPage), 0U) << "no area";
    pages->set_area({16 * kPage, 24 * kPage});
    pages->add(18 * kPage, 19 * kPage);
    EXPECT_EQ(pages->next_place(kPage), 16 * kPage);
    EXPECT_EQ(pages->next_place(2 * kPage), 19 * kPage) << "after what is taken";
    EXPECT_EQ(pages->next_place(3 * kPage), 21 * kPage);
    EXPECT_EQ(pages->next_place(2 * kPage), 16 * kPage) << "from the start again; nobody has kept those";
    pages->add(20 * kPage, 25 * kPage);
    EXPECT_EQ(pages->next_place(3 * kPage), 0U) << "no gap is that large";
    EXPECT_EQ(pages->next_place(kPage), 16 * kPage);
    EXPECT_EQ(pages->next_place(9 * kPage), 0U);
}

}  // namespace
}  // namespace anyperf::engine
