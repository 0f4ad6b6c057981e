// access_groups_test.cpp: which accesses of a segment one look-up serves.
#include "engine/x86_64/accesses/access_groups.h"

#include <gtest/gtest.h>

#include <vector>

namespace anyperf::engine {
namespace {

using Kind = RecordedAccess::Kind;

constexpr unsigned kLine = 64;

RecordedAccess access(Kind kind, std::uint8_t base, std::int64_t displacement, unsigned bytes = 8) {
    RecordedAccess made;
    made.kind = kind;
    made.base = base;
    made.displacement = displacement;
    made.bytes = bytes & 0x7fffu;
    return made;
}

using Of = AccessGroups::Of;

AccessGroups groups_of(const std::vector<RecordedAccess>& accesses, Of of = Of::repeated) {
    return {accesses.data(), static_cast<unsigned>(accesses.size()), kLine, of};
}

TEST(AccessGroups, PushesAreOneGroupOfStores) {
    const std::vector accesses{access(Kind::store, 1, -8), access(Kind::store, 1, -16), access(Kind::store, 1, -24)};
    const AccessGroups groups = groups_of(accesses);
    const AccessGroup* const group = groups.beginning_at(0);
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->count, 3);
    EXPECT_EQ(group->lowest, -24);
    EXPECT_EQ(group->bytes(), 24U);
    EXPECT_EQ(group->alignment, 8U);
    EXPECT_TRUE(group->modifies);
    EXPECT_EQ(groups.beginning_at(1), nullptr);
}

TEST(AccessGroups, AGroupReachesOverOthers) {
    const std::vector accesses{access(Kind::load, 1, 0), access(Kind::load, 2, 0), access(Kind::fetch, 0, 0x1000),
                               access(Kind::load, 1, 8), access(Kind::load, 3, 0)};
    const AccessGroups groups = groups_of(accesses);
    EXPECT_EQ(groups.beginning_at(0)->count, 2);
    EXPECT_EQ(groups.beginning_at(1)->count, 1);
}

TEST(AccessGroups, AGroupOfNeighboursEndsBeforeOthers) {
    const std::vector accesses{access(Kind::load, 1, 0), access(Kind::load, 1, 8), access(Kind::load, 2, 0),
                               access(Kind::load, 1, 16)};
    const AccessGroups groups = groups_of(accesses, Of::neighbours);
    EXPECT_EQ(groups.beginning_at(0)->count, 2);
    EXPECT_EQ(groups.beginning_at(2)->count, 1);
    EXPECT_EQ(groups.beginning_at(3)->count, 1);
}

TEST(AccessGroups, AGroupOfNeighboursEndsBeforeAnotherLineOfCode) {
    const std::vector accesses{access(Kind::load, 1, 0), access(Kind::fetch, 0, 0x1000), access(Kind::load, 1, 8)};
    const AccessGroups groups = groups_of(accesses, Of::neighbours);
    EXPECT_EQ(groups.beginning_at(0)->count, 1);
    EXPECT_EQ(groups.beginning_at(2)->count, 1);
}

TEST(AccessGroups, AGroupHasAtMostTheBytesOfALine) {
    const std::vector accesses{access(Kind::load, 1, 0), access(Kind::load, 1, 56), access(Kind::load, 1, 64)};
    const AccessGroups groups = groups_of(accesses);
    EXPECT_EQ(groups.beginning_at(0)->bytes(), 64U);
    EXPECT_EQ(groups.beginning_at(2)->count, 1);
}

TEST(AccessGroups, AnAccessOfMoreThanALineIsNotOneLine) {
    EXPECT_FALSE(groups_of({access(Kind::store, 1, 0, 576)}).beginning_at(0)->one_line);
    EXPECT_TRUE(groups_of({access(Kind::store, 1, 0, 64)}).beginning_at(0)->one_line);
}

TEST(AccessGroups, KnownAddressesAreOneGroupOnlyInOneLine) {
    const std::vector accesses{access(Kind::load, 0, 0x1000), access(Kind::load, 0, 0x1038),
                               access(Kind::load, 0, 0x1040), access(Kind::load, 0, 0x107c)};
    const AccessGroups groups = groups_of(accesses);
    EXPECT_EQ(groups.beginning_at(0)->count, 2);
    EXPECT_TRUE(groups.beginning_at(0)->one_line);
    EXPECT_EQ(groups.beginning_at(2)->count, 1);
    EXPECT_FALSE(groups.beginning_at(3)->one_line);  // it crosses the end of a line
}

TEST(AccessGroups, AccessesThatMayCrossALineHaveNoAlignment) {
    EXPECT_EQ(groups_of({access(Kind::load, 1, 0, 8), access(Kind::load, 1, 12, 8)}).beginning_at(0)->alignment, 0U);
    EXPECT_EQ(groups_of({access(Kind::load, 1, 0, 8), access(Kind::load, 1, 12, 4)}).beginning_at(0)->alignment, 8U);
    EXPECT_EQ(groups_of({access(Kind::load, 1, 0, 10), access(Kind::load, 1, 16, 8)}).beginning_at(0)->alignment, 0U);
}

TEST(AccessGroups, NoGroupReachesOverAString) {
    const std::vector accesses{access(Kind::load, 1, 0), access(Kind::load_while, 2, 0), access(Kind::load, 1, 8)};
    const AccessGroups groups = groups_of(accesses);
    EXPECT_EQ(groups.beginning_at(0)->count, 1);
    EXPECT_EQ(groups.beginning_at(1), nullptr);
    EXPECT_EQ(groups.beginning_at(2)->count, 1);
}

TEST(AccessGroups, AScaleOrAnAddressOf32BitsMakesAnotherGroup) {
    RecordedAccess scaled = access(Kind::load, 1, 0);
    RecordedAccess narrow = access(Kind::load, 1, 8);
    scaled.index = 2;
    scaled.scale = 3;
    narrow.address32 = 1;
    const std::vector accesses{access(Kind::load, 1, 0), scaled, narrow, narrow};
    const AccessGroups groups = groups_of(accesses);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(groups.beginning_at(i)->count, 1) << i;
}

}  // namespace
}  // namespace anyperf::engine
