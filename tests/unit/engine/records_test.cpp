// records_test.cpp: where the first records and the first code are, and that it makes no difference that the following
// ones are elsewhere.
#include <sys/mman.h>

#include <gtest/gtest.h>

#include "engine/cache/arena.h"
#include "engine/cache/pool.h"

namespace anyperf::engine {
namespace {

struct Record {
    std::uint64_t value[4] = {};
};

class RecordsBesideATable : public testing::Test {
  protected:
    static constexpr std::uint32_t kBeside = 256;
    using Records = Pool<Record, 1u << 16>;

    void SetUp() override {
        ASSERT_TRUE(area_.reserve(Records::bytes_for(0) + kLargePageBytes));
        void* const page = reserve_pages(kLargePageBytes);
        ASSERT_NE(page, nullptr);
        tables_.begin(address_of(page), kLargePageBytes, area_);
        ASSERT_TRUE(records_.reserve<kBeside>(area_, tables_, 0));
    }
    bool is_beside(std::uint32_t number) { return tables_.is_beside(&records_[number]); }

    OwnArea area_;
    TableArea tables_;
    Records records_;
};

TEST_F(RecordsBesideATable, AreTheFirstOnes) {
    for (std::uint32_t number = 1; number <= 2 * kBeside; ++number) {
        ASSERT_EQ(records_.allocate(), number);
        ASSERT_EQ(is_beside(number), number < kBeside);
        ASSERT_EQ(records_.number_of(records_[number]), number);
    }
}

TEST_F(RecordsBesideATable, ThatBelongTogetherHaveConsecutiveAddresses) {
    ASSERT_EQ(records_.allocate(kBeside - 3), 1U);
    const std::uint32_t first = records_.allocate(5);
    EXPECT_EQ(first, kBeside) << "the two that are left are too few";
    EXPECT_EQ(&records_[first + 4], &records_[first] + 4);
}

TEST_F(RecordsBesideATable, AreZerosOnceFreed) {
    for (const std::uint32_t count : {kBeside - 1, kBeside}) records_[records_.allocate(count)].value[0] = 1;
    records_.free_all();
    for (std::uint32_t i = 0; i < 2 * kBeside; ++i) ASSERT_EQ(records_[records_.allocate()].value[0], 0U);
    EXPECT_EQ(records_.used(), 2 * kBeside);
}

class CodeOfAnArena : public testing::Test {
  protected:
    static constexpr std::size_t kBlockBytes = 60000;

    void SetUp() override { ASSERT_TRUE(arena_.map_anywhere(false)); }
    void TearDown() override { ::munmap(const_cast<std::uint8_t*>(arena_.hot_start()), Arena::kBytes); }

    void add_block() {
        std::uint8_t* const hot = arena_.hot().data();
        std::uint8_t* const cold = arena_.cold().data();
        *hot = *cold = 0x90;
        arena_.commit(++block_, hot + kBlockBytes, cold + kBlockBytes / 2);
    }
    std::size_t hot_place() const { return static_cast<std::size_t>(arena_.hot().data() - arena_.hot_start()); }
    std::size_t cold_place() const { return static_cast<std::size_t>(arena_.cold().data() - arena_.hot_start()); }

    Arena arena_;
    BlockId block_ = 0;
};

TEST_F(CodeOfAnArena, BeginsInItsFirstLargePage) {
    add_block();
    EXPECT_LT(hot_place(), Arena::kFirstHotBytes);
    EXPECT_LT(cold_place(), Arena::kFirstBytes);
    EXPECT_EQ(arena_.bytes(), kBlockBytes + kBlockBytes / 2 + sizeof(BlockId));
}

TEST_F(CodeOfAnArena, ContinuesAfterItAtRisingAddresses) {
    std::size_t before = hot_place();
    for (std::size_t bytes = 0; bytes < 3 * Arena::kFirstBytes; bytes += kBlockBytes) {
        ASSERT_TRUE(arena_.has_room());
        add_block();
        ASSERT_GT(hot_place(), before);
        before = hot_place();
    }
    EXPECT_GT(hot_place(), Arena::kFirstBytes);
    EXPECT_GT(cold_place(), Arena::kHotBytes);
}

TEST_F(CodeOfAnArena, BeginsAnewOnceFreed) {
    arena_.commit_cold(arena_.cold().data() + 100);
    arena_.retain_cold();
    for (std::size_t bytes = 0; bytes < 2 * Arena::kFirstBytes; bytes += kBlockBytes) add_block();
    arena_.free_all();
    EXPECT_EQ(hot_place(), 0U);
    EXPECT_EQ(cold_place(), Arena::kFirstHotBytes + 100);
    EXPECT_EQ(arena_.bytes(), 0U);
    EXPECT_EQ(*arena_.hot_start(), 0U);
}

}  // namespace
}  // namespace anyperf::engine
