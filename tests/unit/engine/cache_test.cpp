// cache_test.cpp: the translator and its code cache as a hosted library: blocks are made, found, linked, removed and
// freed. No translated code runs here; tests/engine runs it.
#include "engine/cache/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "engine/cache/packed_marks.h"
#include "engine/fail.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine {
namespace {

using x86_64::rax;
using x86_64::Thread;
using Bytes = std::vector<std::uint8_t>;

/// A code cache with a translator. Application code is in allocations of its own, so that a sanitizer reports each byte
/// read beyond it.
class CodeCache : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(cache_.reserve());
        Arena* const first = x86_64::prepared_arena(cache_, address_of(this));
        ASSERT_NE(first, nullptr);
        ASSERT_TRUE(x86_64::emit_routines(*first, routines_));
        tuples_->begin(&threads_, 0);
        threads_ = thread_.get();
        cache_.set_lookup_miss(routines_.exit[static_cast<std::size_t>(x86_64::ExitReason::lookup_miss)]);
    }

    /// The words that an addition to memory just before `host` is made to.
    std::size_t word_counted_before(const std::uint8_t* host) {
        std::uint32_t offset = 0;
        __builtin_memcpy(&offset, host - sizeof offset, sizeof offset);
        return (offset - offsetof(Thread, tuples)) / sizeof(std::uint64_t);
    }

    Block* translate(const Bytes& code, bool indirect_entry = false) {
        return translate_at(code.data(), code.size(), indirect_entry);
    }

    Block* translate_at(const std::uint8_t* code, std::size_t size, bool indirect_entry) {
        const std::uint64_t pc = address_of(code);
        cache_.executable.add({pc, pc + size, false, false});
        Arena* const arena = x86_64::prepared_arena(cache_, pc);
        if (arena == nullptr) return nullptr;
        x86_64::Translation translation{cache_, *arena, counting_, *tuples_, *instrumentation_};
        Block* const block = translation.run({pc, code, size}, 0, indirect_entry);
        if (block != nullptr && !cache_.add(*block)) return nullptr;
        cache_.executable.remove(pc, pc + size);
        return block;
    }

    /// The address that the exit's jump leads to.
    std::uint64_t destination_of(const Exit& exit) {
        std::int32_t relative = 0;
        __builtin_memcpy(&relative, cache_.operand_of(exit), sizeof relative);
        return address_of(cache_.operand_of(exit)) + 4 +
               static_cast<std::uint64_t>(static_cast<std::int64_t>(relative));
    }

    Cache cache_;
    x86_64::Routines routines_;
    x86_64::Counting counting_;
    /// A thread of the process, with its counts.
    std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
    Thread* threads_ = nullptr;
    std::unique_ptr<x86_64::TupleTable> tuples_ = std::make_unique<x86_64::TupleTable>();
    std::unique_ptr<ProcessInstrumentation> instrumentation_ = std::make_unique<ProcessInstrumentation>();
};

const Bytes kJump{0x90, 0xeb, 0x10};          // nop; jmp +16
const Bytes kReturn{0x31, 0xc0, 0x90, 0xc3};  // xor eax, eax; nop; ret

// xor eax, eax; mov rax, [rdi]; je +16 - xor eax, eax; mov rbx, [rsi]; mov rcx, [rsi]; ret
const Bytes kTwoSegments{0x31, 0xc0, 0x48, 0x8b, 0x07, 0x74, 0x10, 0x31,
                         0xc0, 0x48, 0x8b, 0x1e, 0x48, 0x8b, 0x0e, 0xc3};

/// What the segment at `host` takes from its lane: the immediate of a sub, which a js and then `host` follow.
std::int32_t charged_before(const std::uint8_t* host) {
    constexpr std::size_t kJs = 6;
    return host[-static_cast<std::ptrdiff_t>(kJs) - 1];
}

TEST_F(CodeCache, ChargesEachSegmentItsInstructions) {
    counting_.open = x86_64::bit(x86_64::Class::instructions);
    counting_.budgeted = true;
    Block* const block = translate(kTwoSegments);
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(block->instructions, 7u);
    const struct {
        std::size_t first, offset, lane;
        std::int32_t instructions;
    } segments[]{{0, 0, 1, 3}, {3, 7, 2, 4}};
    for (const auto& row : segments) {
        const std::uint32_t name = x86_64::encode_segment(cache_.id_of(*block), row.first, row.lane);
        const x86_64::ChargedSegment segment = x86_64::decode_segment(cache_, name);
        EXPECT_EQ(segment.block, cache_.id_of(*block));
        EXPECT_EQ(segment.pc, block->pc + row.offset);
        EXPECT_EQ(segment.lane, row.lane);
        EXPECT_TRUE(segment.budgeted);
        EXPECT_EQ(segment.instructions, row.instructions);
        EXPECT_EQ(segment.instructions, charged_before(block->host + Marks{*block}[row.first].host));
    }
}

TEST_F(CodeCache, CountsAllClassesOfASegmentInOneWord) {
    using x86_64::Class;
    tuples_->attach(*thread_, true);
    counting_.open = x86_64::bit(Class::instructions) | x86_64::bit(Class::branches) | x86_64::bit(Class::loads);
    Block* const block = translate(kTwoSegments);
    ASSERT_NE(block, nullptr);
    const struct {
        std::size_t first;
        unsigned instructions, branches, loads;
    } segments[]{{0, 3, 1, 1}, {3, 4, 1, 3}};
    for (const auto& row : segments) {
        const std::size_t word = word_counted_before(block->host + Marks{*block}[row.first].host);
        ASSERT_LT(word, thread_->tuples.words()) << "it has a meaning before the block can run";
        const auto [amount] = thread_->tuples.meaning(word);
        EXPECT_EQ(amount[static_cast<std::size_t>(Class::instructions)], row.instructions);
        EXPECT_EQ(amount[static_cast<std::size_t>(Class::branches)], row.branches);
        EXPECT_EQ(amount[static_cast<std::size_t>(Class::loads)], row.loads);
        EXPECT_EQ(amount[static_cast<std::size_t>(Class::stores)], 0u);
    }
}

TEST_F(CodeCache, LendsARegisterThatTheSegmentOverwritesWhereFlagsAreAlive) {
    counting_.open = x86_64::bit(x86_64::Class::instructions);
    const Bytes code{0x48, 0x89, 0xc8, 0x48, 0x8b, 0x17, 0xff, 0xe2};  // mov rax, rcx; mov rdx, [rdi]; jmp rdx
    Block* const block = translate(code);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(Marks{*block}[0].lent, rax);
    EXPECT_EQ(Marks{*block}[1].lent, Mark::kNotLent) << "rax has its own value again";
    const Bytes none{0x48, 0x01, 0xc8, 0x90};  // add rax, rcx overwrites the flags
    EXPECT_EQ(Marks{*translate(none)}[0].lent, Mark::kNotLent);
    x86_64::Registers registers{};
    thread_->lent = 7;
    x86_64::restore_lent(*thread_, x86_64::locate(*block, address_of(block->host)), registers);
    EXPECT_EQ(registers.r[rax], 0u) << "the prologue has not run";
    x86_64::restore_lent(*thread_, x86_64::locate(*block, address_of(block->host) + Marks{*block}[0].host), registers);
    EXPECT_EQ(registers.r[rax], 7u);
}

TEST_F(CodeCache, FindsABlockByItsAddressUntilItIsRemoved) {
    Block* const block = translate(kReturn);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->instructions, 3);
    EXPECT_EQ(block->guest_bytes, 4);
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), block);
    EXPECT_EQ(cache_.find(address_of(kReturn.data()) + 1), nullptr);
    EXPECT_EQ(cache_.block_at_host(address_of(block->host) + 1), block);
    cache_.remove(*block);
    EXPECT_TRUE(block->dead);
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), nullptr);
}

TEST_F(CodeCache, PointsAnExitToItsStubUnlessItsLinkedBlockIsAlive) {
    Block* const from = translate(kJump);
    Block* const to = translate(kReturn);
    ASSERT_TRUE(from != nullptr && to != nullptr);
    const ExitId id = from->first_exit;
    EXPECT_EQ(destination_of(cache_.exits[id]), address_of(cache_.stub_of(cache_.exits[id])));
    cache_.link(id, *to);
    EXPECT_EQ(destination_of(cache_.exits[id]), address_of(to->host));
    EXPECT_LE(address_of(cache_.operand_of(cache_.exits[id])) % 8, 4u) << "a patch must be one store";
    cache_.remove(*to);
    EXPECT_EQ(destination_of(cache_.exits[id]), address_of(cache_.stub_of(cache_.exits[id])));
}

TEST_F(CodeCache, PointsATableSlotToAnIndirectEntryUntilItsBlockIsRemoved) {
    Block* const block = translate(kReturn, true);
    ASSERT_NE(block, nullptr);
    ASSERT_NE(block->indirect_entry, 0u);
    const std::size_t slot = block->pc % Cache::kTableEntries;
    EXPECT_EQ(cache_.indirect_table()[slot], cache_.lookup_miss());
    cache_.add_to_table(block->indirect_entry);
    EXPECT_EQ(cache_.indirect_table()[slot], address_of(cache_.indirect_entries[block->indirect_entry].host));
    cache_.remove(*block);
    EXPECT_EQ(cache_.indirect_table()[slot], cache_.lookup_miss());
}

TEST_F(CodeCache, ChainsIndirectEntriesOfOneSlotUntilTheirBlockIsRemoved) {
    // Three addresses with the same low 16 bits, which select the slot.
    constexpr std::size_t kDistance = Cache::kTableEntries;
    Bytes code(2 * kDistance + kReturn.size());
    Block* blocks[3];
    for (std::size_t i = 0; i < std::size(blocks); ++i) {
        std::copy(kReturn.begin(), kReturn.end(), code.begin() + static_cast<std::ptrdiff_t>(i * kDistance));
        blocks[i] = translate_at(code.data() + i * kDistance, kReturn.size(), true);
        ASSERT_NE(blocks[i], nullptr);
        cache_.add_to_table(blocks[i]->indirect_entry);
    }
    const auto chain = [&] {
        std::vector<std::uint64_t> hosts{cache_.indirect_table()[blocks[0]->pc % Cache::kTableEntries]};
        while (hosts.back() != cache_.lookup_miss())
            for (const Block* block : blocks)
                if (const IndirectEntry& entry = cache_.indirect_entries[block->indirect_entry];
                    address_of(entry.host) == hosts.back())
                    hosts.push_back(*entry.on_mismatch);
        return hosts;
    };
    const auto host = [&](std::size_t i) {
        return address_of(cache_.indirect_entries[blocks[i]->indirect_entry].host);
    };
    EXPECT_EQ(chain(), (std::vector{host(2), host(1), host(0), cache_.lookup_miss()}));
    cache_.remove(*blocks[1]);
    EXPECT_EQ(chain(), (std::vector{host(2), host(0), cache_.lookup_miss()}));
    cache_.remove(*blocks[2]);
    EXPECT_EQ(chain(), (std::vector{host(0), cache_.lookup_miss()}));
    cache_.remove(*blocks[0]);
    EXPECT_EQ(chain(), (std::vector{cache_.lookup_miss()}));
}

TEST(Exit, HoldsEveryAddressThatCodeCanHave) {
    for (const std::uint64_t address :
         {std::uint64_t{0}, std::uint64_t{0x401000}, std::uint64_t{0x7fffffffffff}, std::uint64_t{0x80007fffffff},
          std::uint64_t{0xfffffffffff000}, std::uint64_t{0xffffffffff600400}}) {
        Exit exit;
        exit.set_target(address);
        EXPECT_EQ(exit.target(), address);
    }
}

TEST_F(CodeCache, RemovesTheBlocksOfAChangedRange) {
    Block* const block = translate(kReturn);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(cache_.live_code_bytes, 4u);
    cache_.remove_range(block->pc + 3, block->pc + 4);
    EXPECT_TRUE(block->dead);
    EXPECT_EQ(cache_.live_code_bytes, 0u);
    EXPECT_EQ(cache_.translated_code_bytes, 4u);
}

TEST_F(CodeCache, IsEmptyAndUsableAfterItIsFreed) {
    cache_.byte_limit = 100;
    EXPECT_FALSE(cache_.is_full());
    ASSERT_NE(translate(kReturn), nullptr);
    EXPECT_TRUE(cache_.is_full());
    const std::uint32_t generation = cache_.generation;
    cache_.remove_all();
    cache_.free_all();
    EXPECT_EQ(cache_.generation, generation + 1);
    EXPECT_FALSE(cache_.is_full());
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), nullptr);
    Block* const again = translate(kReturn);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(cache_.find(address_of(kReturn.data())), again);
}

TEST_F(CodeCache, FindsEachOfThousandsOfBlocksDespiteCollisions) {
    std::vector<Bytes> code(5000, kReturn);
    std::vector<Block*> blocks;
    blocks.reserve(code.size());
    for (const Bytes& bytes : code) blocks.push_back(translate(bytes));
    for (std::size_t i = 0; i < code.size(); ++i) EXPECT_EQ(cache_.find(address_of(code[i].data())), blocks[i]);
}

/// Each block must be in its arena's list, by which a fault in it finds it.
TEST_F(CodeCache, TakesAnotherArenaWhenTheListOfBlocksIsFull) {
    Arena* const full = cache_.arena_for(address_of(this));
    ASSERT_NE(full, nullptr);
    while (full->block_count() < Arena::kMaximumBlocks) full->commit(1, full->hot().data(), full->cold().data());
    EXPECT_NE(cache_.arena_for(address_of(this)), full);
}

/// jmp *%fs:0x7ffffff0(%rip): no displacement reaches the operand from the arena, which is below the code.
TEST_F(CodeCache, ReadsAFarTargetOfAnIndirectBranchWithItsSegment) {
    const Bytes code{0x64, 0xff, 0x25, 0xf0, 0xff, 0xff, 0x7f};
    const Block* const block = translate(code);
    ASSERT_NE(block, nullptr);
    const Bytes load{0x64, 0x48, 0x8b, 0x09};  // mov rcx, fs:[rcx]
    const std::uint8_t* const end = block->host + block->host_bytes;
    EXPECT_NE(std::search(static_cast<const std::uint8_t*>(block->host), end, load.begin(), load.end()), end);
}

/// Whatever the bytes are and wherever they end, nothing is read beyond them and nothing is written outside the arena.
TEST_F(CodeCache, TranslatesAnyBytesWithoutReadingBeyondTheirEnd) {
    std::mt19937 random(20240611);
    for (const x86_64::ClassSet open : {x86_64::ClassSet{0}, static_cast<x86_64::ClassSet>(~x86_64::ClassSet{0})}) {
        counting_.open = open;
        for (int round = 0; round < 20000; ++round) {
            Bytes code(1 + random() % 40);
            for (std::uint8_t& byte : code) byte = static_cast<std::uint8_t>(random());
            Block* const block = translate(code, round % 2 == 0);
            x86_64::Instruction first;
            const bool is_code = x86_64::decode(code.data(), code.size(), first) == x86_64::DecodeStatus::ok;
            ASSERT_EQ(block != nullptr, is_code);
            if (block == nullptr) continue;
            EXPECT_LE(block->guest_bytes, code.size());
            cache_.remove(*block);
        }
    }
}

TEST(InternalFailure, ReportsReasonAddressAndFileAndExitsWith125) {
    EXPECT_EXIT(
        fail("a test of the message", address_of(kReturn.data())), testing::ExitedWithCode(125),
        "anyperf: internal failure: a test of the message, at application address 0x[0-9a-f]+.*, bytes 31 c0 90 c3");
    const auto code = reinterpret_cast<std::uint64_t>(&fail);
    EXPECT_EXIT(fail("here", code), testing::ExitedWithCode(125),
                "at application address 0x[0-9a-f]+, in /.*unit_engine_cache at offset 0x[0-9a-f]+, bytes ");
}

}  // namespace
}  // namespace anyperf::engine
