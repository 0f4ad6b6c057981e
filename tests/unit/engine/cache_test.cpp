// cache_test.cpp: the translator and its cache, hosted: what is made, found, linked, removed and dropped. Nothing here
// is run; that is for tests/engine.
#include "engine/cache/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "engine/fail.h"
#include "engine/x86_64/routines.h"
#include "engine/x86_64/segment.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Application code in memory of its own, so that a sanitizer sees each byte too far.
class Translating : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(cache_.reserve());
        Arena* const first = cache_.arena_for(address_of(this));
        ASSERT_NE(first, nullptr);
        ASSERT_TRUE(x86_64::emit_routines(*first, routines_));
        cache_.fill_table(routines_.leave[static_cast<std::size_t>(x86_64::Leave::table_empty)]);
    }

    Block* translate(const Bytes& code, bool landing = false) {
        return translate_at(code.data(), code.size(), landing);
    }

    Block* translate_at(const std::uint8_t* code, std::size_t size, bool landing) {
        const std::uint64_t pc = address_of(code);
        cache_.executable.add({pc, pc + size, false, false});
        Arena* const arena = cache_.arena_for(pc);
        if (arena == nullptr) return nullptr;
        x86_64::Translation translation{cache_, *arena, counting_, *watched_};
        Block* const block = translation.run({pc, code, size}, 0, landing);
        if (block != nullptr && !cache_.add(*block)) return nullptr;
        cache_.executable.remove(pc, pc + size);
        return block;
    }

    /// The operand of an exit leads there.
    std::uint64_t led_to(const Exit& exit) {
        std::int32_t relative = 0;
        __builtin_memcpy(&relative, cache_.operand_of(exit), sizeof relative);
        return address_of(cache_.operand_of(exit)) + 4 +
               static_cast<std::uint64_t>(static_cast<std::int64_t>(relative));
    }

    Cache cache_;
    x86_64::Routines routines_;
    x86_64::Counting counting_;
    std::unique_ptr<Watched> watched_ = std::make_unique<Watched>();
};

const Bytes kJump{0x90, 0xeb, 0x10};          // nop; jmp +16
const Bytes kReturn{0x31, 0xc0, 0x90, 0xc3};  // xor eax, eax; nop; ret

// xor eax, eax; mov rax, [rdi]; je +16 - xor eax, eax; mov rbx, [rsi]; mov rcx, [rsi]; ret
const Bytes kTwoSegments{0x31, 0xc0, 0x48, 0x8b, 0x07, 0x74, 0x10, 0x31,
                         0xc0, 0x48, 0x8b, 0x1e, 0x48, 0x8b, 0x0e, 0xc3};

/// The immediate of the sub that stands before the js that stands before `host`.
std::int32_t taken_before(const std::uint8_t* host) {
    constexpr std::size_t kJs = 6;
    std::int32_t taken = 0;
    __builtin_memcpy(&taken, host - kJs - sizeof taken, sizeof taken);
    return taken;
}

TEST_F(Translating, ASegmentIsChargedWhatItsCodeTakes) {
    counting_.open = x86_64::bit(x86_64::Class::instructions) | x86_64::bit(x86_64::Class::loads);
    Block* const block = translate(kTwoSegments);
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(block->instructions, 7u);
    const struct {
        std::size_t first, offset, lane;
        std::int32_t instructions, loads;
    } segments[]{{0, 0, 1, 3, 1}, {3, 7, 2, 4, 3}};
    for (const auto& row : segments) {
        const std::uint32_t name = x86_64::name_of_segment(cache_.id_of(*block), row.first, row.lane);
        const x86_64::ChargedSegment segment = x86_64::segment_of(cache_, name);
        EXPECT_EQ(segment.block, cache_.id_of(*block));
        EXPECT_EQ(segment.pc, block->pc + row.offset);
        EXPECT_EQ(segment.lane, row.lane);
        EXPECT_EQ(segment.charged, (row.instructions << kUpperCounter) - row.loads);
        EXPECT_EQ(segment.instructions(), row.instructions);
        EXPECT_EQ(segment.charged, taken_before(block->host + block->marks[row.first].host));
    }
}

TEST_F(Translating, ABlockIsFoundByItsAddressUntilItIsRemoved) {
    Block* const block = translate(kReturn);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->instructions, 3);
    EXPECT_EQ(block->guest_bytes, 4);
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), block);
    EXPECT_EQ(cache_.find(address_of(kReturn.data()) + 1), nullptr);
    EXPECT_EQ(cache_.holding(address_of(block->host) + 1), block);
    cache_.remove(*block);
    EXPECT_TRUE(block->dead);
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), nullptr);
}

TEST_F(Translating, AnExitLeadsToItsStubUnlessTheBlockItIsLinkedToLives) {
    Block* const from = translate(kJump);
    Block* const to = translate(kReturn);
    ASSERT_TRUE(from != nullptr && to != nullptr);
    const ExitId id = from->first_exit;
    EXPECT_EQ(led_to(cache_.exits[id]), address_of(cache_.stub_of(cache_.exits[id])));
    cache_.link(id, *to);
    EXPECT_EQ(led_to(cache_.exits[id]), address_of(to->host));
    EXPECT_LE(address_of(cache_.operand_of(cache_.exits[id])) % 8, 4u) << "a patch must be one store";
    cache_.remove(*to);
    EXPECT_EQ(led_to(cache_.exits[id]), address_of(cache_.stub_of(cache_.exits[id])));
}

TEST_F(Translating, TheTableLeadsToALandingUntilItsBlockIsRemoved) {
    Block* const block = translate(kReturn, true);
    ASSERT_NE(block, nullptr);
    ASSERT_NE(block->landing, 0u);
    const std::size_t slot = block->pc % Cache::kTableEntries;
    EXPECT_EQ(cache_.table()[slot], cache_.nowhere());
    cache_.add_to_table(block->landing);
    EXPECT_EQ(cache_.table()[slot], address_of(cache_.landings[block->landing].host));
    cache_.remove(*block);
    EXPECT_EQ(cache_.table()[slot], cache_.nowhere());
}

TEST_F(Translating, LandingsOfOneEntryLeadToEachOtherUntilTheirBlockIsRemoved) {
    // The same low 16 bits, in three places.
    constexpr std::size_t kApart = Cache::kTableEntries;
    Bytes code(2 * kApart + kReturn.size());
    Block* blocks[3];
    for (std::size_t i = 0; i < std::size(blocks); ++i) {
        std::copy(kReturn.begin(), kReturn.end(), code.begin() + static_cast<std::ptrdiff_t>(i * kApart));
        blocks[i] = translate_at(code.data() + i * kApart, kReturn.size(), true);
        ASSERT_NE(blocks[i], nullptr);
        cache_.add_to_table(blocks[i]->landing);
    }
    const auto way = [&] {
        std::vector<std::uint64_t> hosts{cache_.table()[blocks[0]->pc % Cache::kTableEntries]};
        while (hosts.back() != cache_.nowhere())
            for (const Block* block : blocks)
                if (const Landing& landing = cache_.landings[block->landing]; address_of(landing.host) == hosts.back())
                    hosts.push_back(*landing.other);
        return hosts;
    };
    const auto host = [&](std::size_t i) { return address_of(cache_.landings[blocks[i]->landing].host); };
    EXPECT_EQ(way(), (std::vector{host(2), host(1), host(0), cache_.nowhere()}));
    cache_.remove(*blocks[1]);
    EXPECT_EQ(way(), (std::vector{host(2), host(0), cache_.nowhere()}));
    cache_.remove(*blocks[2]);
    EXPECT_EQ(way(), (std::vector{host(0), cache_.nowhere()}));
    cache_.remove(*blocks[0]);
    EXPECT_EQ(way(), (std::vector{cache_.nowhere()}));
}

TEST(Exit, LeadsToEveryAddressThatCodeCanHave) {
    for (const std::uint64_t address :
         {std::uint64_t{0}, std::uint64_t{0x401000}, std::uint64_t{0x7fffffffffff}, std::uint64_t{0x80007fffffff},
          std::uint64_t{0xfffffffffff000}, std::uint64_t{0xffffffffff600400}}) {
        Exit exit;
        exit.lead_to(address);
        EXPECT_EQ(exit.target(), address);
    }
}

TEST_F(Translating, WhatChangesInAPageTakesItsBlocksWithIt) {
    Block* const block = translate(kReturn);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(cache_.live_code, 4u);
    cache_.remove_range(block->pc + 3, block->pc + 4);
    EXPECT_TRUE(block->dead);
    EXPECT_EQ(cache_.live_code, 0u);
    EXPECT_EQ(cache_.seen_code, 4u);
}

TEST_F(Translating, ADroppedCacheIsEmptyAndCanBeUsedAgain) {
    cache_.most = 100;
    EXPECT_FALSE(cache_.is_full());
    ASSERT_NE(translate(kReturn), nullptr);
    EXPECT_TRUE(cache_.is_full());
    const std::uint32_t generation = cache_.generation;
    cache_.remove_all();
    cache_.drop_all();
    EXPECT_EQ(cache_.generation, generation + 1);
    EXPECT_FALSE(cache_.is_full());
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), nullptr);
    Block* const again = translate(kReturn);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), again);
}

TEST_F(Translating, ThousandsOfBlocksAreAllFoundAndCollidingOnesToo) {
    std::vector<Bytes> code(5000, kReturn);
    std::vector<Block*> blocks;
    blocks.reserve(code.size());
    for (const Bytes& bytes : code) blocks.push_back(translate(bytes));
    for (std::size_t i = 0; i < code.size(); ++i) EXPECT_EQ(cache_.find(address_of(code[i].data())), blocks[i]);
}

/// Whatever the bytes are, and wherever they end: nothing is read behind them, nothing written outside of the arena.
TEST_F(Translating, AnyBytesAreTranslatedAsFarAsTheyReach) {
    std::mt19937 random(20240611);
    for (const x86_64::ClassSet open : {x86_64::ClassSet{0}, static_cast<x86_64::ClassSet>(~x86_64::ClassSet{0})}) {
        counting_.open = open;
        for (int round = 0; round < 20000; ++round) {
            Bytes code(1 + random() % 40);
            for (std::uint8_t& byte : code) byte = static_cast<std::uint8_t>(random());
            Block* const block = translate(code, round % 2 == 0);
            ASSERT_NE(block, nullptr);
            EXPECT_LE(block->guest_bytes, code.size());
            cache_.remove(*block);
        }
    }
}

TEST(Failing, SaysWhatHappenedWhereInWhichFileAndEndsWith125) {
    EXPECT_EXIT(
        fail("a test of the message", address_of(kReturn.data())), testing::ExitedWithCode(125),
        "anyperf: internal failure: a test of the message, at application address 0x[0-9a-f]+.*, bytes 31 c0 90 c3");
    const auto code = reinterpret_cast<std::uint64_t>(&fail);
    EXPECT_EXIT(fail("here", code), testing::ExitedWithCode(125),
                "at application address 0x[0-9a-f]+, in /.*unit_engine_cache at offset 0x[0-9a-f]+, bytes ");
}

}  // namespace
}  // namespace anyperf::engine
