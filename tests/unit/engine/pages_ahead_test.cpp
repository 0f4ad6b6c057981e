// pages_ahead_test.cpp: memory that is used from its start on has its pages before they are used, not many more than
// are used, and never beyond its room.
#include "engine/freestanding/pages_ahead.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace anyperf::engine {
namespace {

class PagesAheadOfUse : public testing::Test {
  protected:
    static constexpr std::size_t kRoom = 1000 * kPageBytes;

    PagesAheadOfUse()
        : start_(address_of(::mmap(nullptr, kRoom + kPageBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
        ::madvise(at_address<void>(start_), kRoom + kPageBytes, MADV_NOHUGEPAGE);
    }
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
        ASSERT_EQ(present() * kPageBytes, pages_.ready());
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

}  // namespace
}  // namespace anyperf::engine
