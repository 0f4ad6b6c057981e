// returns_test.cpp: the code of calls and returns that are paired with the host's, byte by byte, what a fault in it
// means, and what becomes of a pad whose block is removed. tests/engine runs such code.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "code_text.h"
#include "engine/cache/packed_marks.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {
namespace {

using Code = std::vector<std::uint8_t>;

// nop; call +0x100; xor eax, eax; call *rax; ret
const Code kCalls{0x90, 0xe8, 0, 1, 0, 0, 0x31, 0xc0, 0xff, 0xd0, 0xc3};
constexpr std::size_t kAfterDirect = 6, kAfterIndirect = 10;
enum { kNop, kDirect, kXor, kIndirect, kReturn, kEnd };

/// Parameter: whether code is written by other addresses than it is executed at.
class PairedReturns : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        cache_.separate_writes = GetParam();
        ASSERT_TRUE(cache_.reserve());
        Arena* const arena = prepared_arena(cache_, address_of(kCalls.data()));
        ASSERT_NE(arena, nullptr);
        ASSERT_TRUE(emit_routines(*arena, routines_));
        tuples_->begin(&threads_, 0);
        threads_ = thread_.get();
        cache_.pairs_returns = true;
        block_ = translate(*arena);
        ASSERT_NE(block_, nullptr);
    }

    Block* translate(Arena& arena) {
        const std::uint64_t pc = address_of(kCalls.data());
        cache_.executable.add({pc, pc + kCalls.size(), false, false});
        Translation translation{cache_, arena, {}, *tuples_, *instrumentation_};
        Block* const block = translation.run({pc, kCalls.data(), kCalls.size()}, 0, false);
        return block != nullptr && cache_.add(*block) ? block : nullptr;
    }

    /// Host instructions from the mark of `first` up to that of `last`, in hexadecimal; kEnd + 1: up to the block's
    /// end.
    std::string code(std::size_t first, std::size_t last) const {
        const std::size_t end = last > kEnd ? block_->host_bytes : Marks{*block_}[last].host;
        std::string text;
        for (std::size_t at = Marks{*block_}[first].host; at < end; ++at) {
            constexpr const char* kDigits = "0123456789abcdef";
            text += kDigits[block_->host[at] >> 4];
            text += kDigits[block_->host[at] & 15];
        }
        return text;
    }

    /// Where `bytes` are in the block's code, after the mark of `first`.
    std::uint64_t find(std::size_t first, const Code& bytes) const {
        const std::uint8_t* const start = block_->host + Marks{*block_}[first].host;
        const void* const at = memmem(start, static_cast<std::size_t>(block_->host + block_->host_bytes - start),
                                      bytes.data(), bytes.size());
        EXPECT_NE(at, nullptr);
        return address_of(at);
    }

    struct Recovered {
        PairedFault fault;
        BlockPosition place;
        Registers registers;
    };
    Recovered fault_at(std::uint64_t host) const {
        thread_->spill[rcx] = 0xcc;
        thread_->spill[r11] = 0x11;
        Recovered out{PairedFault::none, locate(*block_, host), {}};
        out.registers.r[rsp] = 0x8000;
        out.registers.r[rcx] = 0x7777;
        out.registers.r[r11] = 0x6666;
        out.fault = recover_paired(*thread_, host, out.place, out.registers);
        return out;
    }

    Cache cache_;
    Routines routines_;
    std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
    Thread* threads_ = nullptr;
    std::unique_ptr<TupleTable> tuples_ = std::make_unique<TupleTable>();
    std::unique_ptr<ProcessInstrumentation> instrumentation_ = std::make_unique<ProcessInstrumentation>();
    Block* block_ = nullptr;
};

const std::string kSpillRcx = little_endian(offsetof(Thread, spill) + std::size_t{8} * rcx);
const std::string kSpillR11 = little_endian(offsetof(Thread, spill) + std::size_t{8} * r11);
const std::string kPads = little_endian(offsetof(Thread, return_pads));
const std::string kMask = little_endian(offsetof(Thread, return_pad_mask));

const std::string kDistance = "........";
// mov rcx, -8(rsp); mov MINUS, r11; lea (rcx,r11), rcx; jrcxz +5; jmp MISMATCHED; mov SPILL, rcx; mov SPILL, r11
const std::string kPad = "48894c24f8" + ("4c8b1d" + kDistance) + "4a8d4c1900" + "e305" + ("e9" + kDistance) +
                         "65488b0c25" + kSpillRcx + "654c8b1c25" + kSpillR11;
const std::string kSpills = "6548890c25" + kSpillRcx + "654c891c25" + kSpillR11;  // mov rcx, SPILL; mov r11, SPILL
const std::string kPlace = "65c462daf51c25" + kMask;                              // pext MASK, rsp, r11

TEST_P(PairedReturns, HaveThisCode) {
    ASSERT_EQ(block_->instructions, std::size_t{kEnd});
    EXPECT_TRUE(is_code(code(kDirect, kXor), "e8" + kDistance + kPad));
    EXPECT_TRUE(is_code(code(kIndirect, kReturn), kSpills + "4889c1" + "e8" + kDistance + kPad));
    // pop rcx; push PADS(,r11,8); ret
    EXPECT_TRUE(is_code(code(kReturn, kEnd), kSpills + kPlace + "59" + "6542ff34dd" + kPads + "c3"));
    // int3; mov r11, SPILL; pext; pop PADS(,r11,8); push RETURN; mov SPILL, r11; jmp TARGET, which may be aligned by a
    // nop
    const std::string tails = code(kEnd, kEnd + 1);
    const std::string direct = "cc" + ("654c891c25" + kSpillR11) + kPlace + "65428f04dd" + kPads + "ff35" + kDistance +
                               "654c8b1c25" + kSpillR11;
    EXPECT_TRUE(is_code(tails.substr(0, direct.size()), direct));
    // pext; pop PADS(,r11,8); push RETURN; movzx r11d, cx; jmp *TABLE(,r11,8)
    const std::string indirect =
        kPlace + "65428f04dd" + kPads + "ff35" + kDistance + "440fb7d9" + "42ff24dd" + kDistance;
    EXPECT_TRUE(is_code(tails.substr(tails.size() - indirect.size()), indirect));
}

TEST_P(PairedReturns, PlaceOfAFaultDecidesWhetherTheCallHasHappened) {
    const Code pop_pad{0x65, 0x42, 0x8f, 0x04, 0xdd}, push_return{0xff, 0x35};
    const std::uint64_t pop = find(kEnd, pop_pad);
    const std::uint64_t push = find(kEnd, push_return);
    const Recovered popping = fault_at(pop);
    EXPECT_EQ(popping.fault, PairedFault::before);
    EXPECT_EQ(popping.place.index, std::size_t{kDirect});
    EXPECT_EQ(popping.place.pc, block_->pc + 1);
    EXPECT_EQ(popping.registers.r[rsp], 0x8008u);
    EXPECT_EQ(popping.registers.r[r11], 0x11u);
    EXPECT_EQ(popping.registers.r[rcx], 0x7777u) << "a direct call spills r11 only";
    const Recovered pushing = fault_at(push);
    EXPECT_EQ(pushing.fault, PairedFault::before);
    EXPECT_EQ(pushing.place.index, std::size_t{kDirect});
    EXPECT_EQ(pushing.registers.r[rsp], 0x8000u);
    // The second tail is that of the indirect call.
    const auto* const after = at_address<const std::uint8_t>(push + 1);
    const void* const second = memmem(after, static_cast<std::size_t>(block_->host + block_->host_bytes - after),
                                      push_return.data(), push_return.size());
    ASSERT_NE(second, nullptr);
    const Recovered indirect = fault_at(address_of(second));
    EXPECT_EQ(indirect.place.index, std::size_t{kIndirect});
    EXPECT_EQ(indirect.place.pc, block_->pc + kAfterIndirect - 2);
    EXPECT_EQ(indirect.registers.r[rcx], 0xccu);
    EXPECT_EQ(indirect.registers.r[r11], 0x11u);
}

TEST_P(PairedReturns, PlaceOfAFaultDecidesWhetherTheReturnHasHappened) {
    const std::uint64_t push = find(kReturn, {0x65, 0x42, 0xff, 0x34, 0xdd});
    const struct {
        std::uint64_t host, stack;
    } after[]{{push, 0x8000}, {push + 9, 0x8008}, {find(kDirect, {0x48, 0x89, 0x4c, 0x24, 0xf8}), 0x8000}};
    for (const auto& row : after) {
        const Recovered recovered = fault_at(row.host);
        EXPECT_EQ(recovered.fault, PairedFault::after);
        EXPECT_EQ(recovered.registers.rip, 0x7777u);
        EXPECT_EQ(recovered.registers.r[rsp], row.stack);
        EXPECT_EQ(recovered.registers.r[rcx], 0xccu);
        EXPECT_EQ(recovered.registers.r[r11], 0x11u);
    }
    EXPECT_EQ(fault_at(push - 1).fault, PairedFault::none) << "pop rcx";
    EXPECT_EQ(fault_at(address_of(block_->host) + Marks{*block_}[kDirect].host).fault, PairedFault::none) << "call";
}

TEST_P(PairedReturns, PadsOfARemovedBlockMatchNoAddress) {
    std::vector<const std::uint64_t*> words;
    for (ExitId id = block_->first_exit; id < block_->first_exit + block_->exits; ++id)
        if (const Exit& exit = cache_.exits[id]; exit.is_pad())
            words.push_back(reinterpret_cast<const std::uint64_t*>(block_->host + exit.stub));
    ASSERT_EQ(words.size(), 2u);
    EXPECT_EQ(*words[0], -(block_->pc + kAfterDirect));
    EXPECT_EQ(*words[1], -(block_->pc + kAfterIndirect));
    cache_.remove(*block_);
    for (const std::uint64_t* const word : words) EXPECT_EQ(*word, std::uint64_t{1} << 62);
}

TEST_P(PairedReturns, BeginWhenTheCacheIsEmptiedOnceThereAreEnoughBlocks) {
    cache_.pairs_returns = false;
    cache_.pair_returns_from = 2;
    EXPECT_FALSE(cache_.is_full());
    cache_.free_all();
    EXPECT_FALSE(cache_.pairs_returns);
    cache_.pair_returns_from = 0;
    EXPECT_TRUE(cache_.is_full());
    cache_.free_all();
    EXPECT_TRUE(cache_.pairs_returns);
    EXPECT_FALSE(cache_.is_full());
}

INSTANTIATE_TEST_SUITE_P(SeparateWrites, PairedReturns, testing::Bool());

}  // namespace
}  // namespace anyperf::engine::x86_64
