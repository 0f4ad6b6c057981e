// pages_ahead_test.cpp: memory that is used from its start on has its pages before they are used, not many more than
// are used, large ones only after its start, and never beyond its room. Tables are beside another one first.
#include "engine/freestanding/pages_ahead.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "engine/cache/table_area.h"

namespace anyperf::engine {
namespace {

class PagesAheadOfUse : public testing::Test {
  protected:
    static constexpr std::size_t kRoom = 1000 * kPageBytes;

    PagesAheadOfUse()
        : start_(address_of(::mmap(nullptr, kRoom + kPageBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
    ~PagesAheadOfUse() override { ::munmap(at_address<void>(start_), kRoom + kPageBytes); }

    /// Pages from the start on that have memory.
    std::size_t present() const {
        std::vector<unsigned char> pages(kRoom / kPageBytes + 1);
        EXPECT_EQ(::mincore(at_address<void>(start_), kRoom + kPageBytes, pages.data()), 0);
        std::size_t count = 0;
        while (count < pages.size() && (pages[count] & 1) != 0) ++count;
        return count;
    }

    std::uint64_t start_;
    PagesAhead pages_;
};

TEST_F(PagesAheadOfUse, AreThereBeforeTheirUse) {
    for (std::size_t used = 1; used < kRoom; used += 3000) {
        pages_.use(start_, used, kRoom);
        ASSERT_GE(present() * kPageBytes, pages_.ready());
        ASSERT_GE(pages_.ready(), used);
        ASSERT_LE(pages_.ready(), used + 65 * kPageBytes);
    }
}

TEST_F(PagesAheadOfUse, EndWithTheRoom) {
    pages_.use(start_, kRoom - 1, kRoom);
    pages_.use(start_, kRoom, kRoom);
    EXPECT_EQ(pages_.ready(), kRoom);
    EXPECT_EQ(present(), kRoom / kPageBytes);
}

TEST_F(PagesAheadOfUse, AreMadeAgainOnceDiscarded) {
    pages_.use(start_, kRoom / 2, kRoom);
    ::madvise(at_address<void>(start_ + kPageBytes), kRoom, MADV_DONTNEED);
    pages_.discarded(1);
    EXPECT_EQ(pages_.ready(), kPageBytes);
    EXPECT_EQ(present(), 1u);
    pages_.use(start_, 2 * kPageBytes, kRoom);
    EXPECT_EQ(present() * kPageBytes, pages_.ready());
}

TEST(LargePages, BeginAfterTheFirstPartOfGrowingMemory) {
    constexpr std::size_t kRoom = 2 * kLargePageBytes;
    constexpr std::size_t kSmallPages = PagesAhead::kSmallBytes / kPageBytes;
    OwnArea area;
    ASSERT_TRUE(area.reserve(kRoom + OwnArea::kLeftOut));
    const std::uint64_t start = address_of(area.take_growing(kRoom));
    ASSERT_EQ(large_page_up(start), start + PagesAhead::kSmallBytes);
    PagesAhead pages;
    pages.use(start, PagesAhead::kSmallBytes, kRoom);
    EXPECT_EQ(pages.ready(), PagesAhead::kSmallBytes);
    EXPECT_EQ(pages.touched_pages(start), kSmallPages);
    pages.use(start, PagesAhead::kSmallBytes + 1, kRoom);
    EXPECT_EQ(pages.touched_pages(start), kSmallPages + 1);
    pages.use(start, PagesAhead::kSmallBytes + kLargePageBytes, kRoom);
    EXPECT_EQ(pages.touched_pages(start), kSmallPages + 2);
}

TEST(GrowingMemory, IsRefusedWhereTheAreaIsTooSmall) {
    OwnArea area;
    ASSERT_TRUE(area.reserve(kLargePageBytes));
    EXPECT_EQ(area.take_growing(2 * kLargePageBytes), nullptr);
}

class TablesBesideAnother : public testing::Test {
  protected:
    static constexpr std::size_t kBeside = 4 * kPageBytes;

    TablesBesideAnother() {
        EXPECT_TRUE(large_.reserve(kBeside));
        EXPECT_TRUE(rest_.reserve(kBeside));
        tables_.begin(address_of(large_.take(kBeside)), kBeside, rest_);
    }

    OwnArea large_;
    OwnArea rest_;
    TableArea tables_;
};

TEST_F(TablesBesideAnother, ComeFirst) {
    EXPECT_TRUE(tables_.is_beside(tables_.take(3 * kPageBytes)));
    void* const larger = tables_.take(2 * kPageBytes);
    ASSERT_NE(larger, nullptr);
    EXPECT_FALSE(tables_.is_beside(larger));
    EXPECT_TRUE(tables_.is_beside(tables_.take(kPageBytes)));
    EXPECT_EQ(tables_.take(3 * kPageBytes), nullptr);
}

TEST_F(TablesBesideAnother, AreZerosOnceCleared) {
    for (void* const table : {tables_.take(kBeside), tables_.take(kBeside)}) {
        auto* const bytes = static_cast<unsigned char*>(table);
        bytes[0] = bytes[kBeside - 1] = 1;
        tables_.clear(table, kBeside);
        EXPECT_EQ(bytes[0] | bytes[kBeside - 1], 0);
    }
}

}  // namespace
}  // namespace anyperf::engine
