// traces_test.cpp: the code of a trace, byte by byte, what its host addresses mean, and which changes of code remove
// it. tests/engine runs such code.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {
namespace traces {
namespace {

// head: nop; call leaf; xor eax, eax; jz more; int3; more: inc eax; jmp head; int3; leaf: nop; ret
const std::vector<std::uint8_t> kLoop{0x90, 0xe8, 10,   0,    0,    0,    0x31, 0xc0, 0x74,
                                      1,    0xcc, 0xff, 0xc0, 0xeb, 0xf1, 0xcc, 0x90, 0xc3};
constexpr std::uint64_t kHead = 0, kAfterCall = 6, kMore = 11, kBetween = 15, kLeaf = 16;
enum { kNop, kCall, kLeafNop, kReturn, kXor, kJz, kInc, kJump, kInstructions };
constexpr std::uint64_t kPlaces[kInstructions] = {0, 1, 16, 17, 6, 8, 11, 13};

class Traces : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        cache_.separate_writes = GetParam();
        ASSERT_TRUE(cache_.reserve());
        arena_ = prepared_arena(cache_, pc_);
        ASSERT_NE(arena_, nullptr);
        ASSERT_TRUE(emit_routines(*arena_, routines_));
        tuples_->begin(&threads_, 0);
        threads_ = thread_.get();
        cache_.executable.add({pc_, pc_ + kLoop.size(), false, false});
        TracePath path{};
        for (const std::uint64_t step : {kHead, kLeaf, kAfterCall, kMore}) path.pc[path.count++] = pc_ + step;
        trace_ = translate(path);
        ASSERT_NE(trace_, nullptr);
        ASSERT_TRUE(cache_.add_trace(*trace_));
    }

    Block* translate(const TracePath& path) {
        Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
        return translation.run_trace(path, false);
    }

    std::string code(std::size_t index) const {
        const std::size_t end = index == kInstructions ? trace_->host_bytes : trace_->marks[index + 1].host;
        std::string text;
        for (std::size_t at = trace_->marks[index].host; at < end; ++at) {
            constexpr const char* kDigits = "0123456789abcdef";
            text += kDigits[trace_->host[at] >> 4];
            text += kDigits[trace_->host[at] & 15];
        }
        return text;
    }

    std::uint64_t pc_ = address_of(kLoop.data());
    Cache cache_;
    Routines routines_;
    std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
    Thread* threads_ = nullptr;
    std::unique_ptr<TupleTable> tuples_ = std::make_unique<TupleTable>();
    std::unique_ptr<ProcessInstrumentation> instrumentation_ = std::make_unique<ProcessInstrumentation>();
    Arena* arena_ = nullptr;
    Block* trace_ = nullptr;
};

/// A little-endian number in hexadecimal.
std::string little(std::uint64_t value, unsigned bytes) {
    std::string text;
    for (unsigned i = 0; i < bytes; ++i, value >>= 8) {
        text += "0123456789abcdef"[value >> 4 & 15];
        text += "0123456789abcdef"[value & 15];
    }
    return text;
}

/// Whether the texts are equal but for digits that are "." in `expected`.
testing::AssertionResult is_code(const std::string& text, const std::string& expected) {
    bool same = text.size() == expected.size();
    for (std::size_t i = 0; same && i < text.size(); ++i) same = expected[i] == '.' || expected[i] == text[i];
    return same ? testing::AssertionSuccess() : testing::AssertionFailure() << text << " is not " << expected;
}

TEST_P(Traces, HaveThisCode) {
    const auto spill_of = [](Register reg) { return little(offsetof(Thread, spill) + std::size_t{8} * reg, 4); };
    const std::string spills = "6548890c25" + spill_of(rcx) + "654c891c25" + spill_of(r11);
    const std::string unspills = "65488b0c25" + spill_of(rcx) + "654c8b1c25" + spill_of(r11);
    const std::string distance = "........";
    ASSERT_EQ(trace_->instructions, std::size_t{kInstructions});
    EXPECT_EQ(code(kNop), "90");
    EXPECT_TRUE(is_code(code(kCall), "ff35" + distance));
    EXPECT_EQ(code(kLeafNop), "90");
    // pop rcx; mov $-RETURN, r11; lea (rcx,r11), rcx; jrcxz +5; jmp OTHER
    EXPECT_TRUE(is_code(code(kReturn), spills + "59" + "49bb" + little(-(pc_ + kAfterCall), 8) + "4a8d4c1900" + "e305" +
                                           "e9" + distance + unspills));
    EXPECT_EQ(code(kXor), "31c0");
    const std::string jnz = code(kJz);  // a nop may align its operand
    EXPECT_TRUE(is_code(jnz.substr(jnz.size() - 12), "0f85" + distance));
    EXPECT_EQ(code(kInc), "ffc0");
    const std::string jump = code(kJump);
    EXPECT_TRUE(is_code(jump.substr(jump.size() - 10), "e9" + distance));
}

TEST_P(Traces, LeadToTheWaysThatTheyDoNotTake) {
    ASSERT_EQ(trace_->exits, 2u);
    EXPECT_EQ(cache_.exits[trace_->first_exit].target(), pc_ + 10);
    EXPECT_EQ(cache_.exits[trace_->first_exit + 1].target(), pc_ + kHead);
}

TEST_P(Traces, HostAddressesAreInTheRightPieces) {
    for (std::size_t i = 0; i < kInstructions; ++i) {
        const BlockPosition start = locate(*trace_, address_of(trace_->host) + trace_->marks[i].host);
        EXPECT_TRUE(start.exact);
        EXPECT_EQ(start.index, i);
        EXPECT_EQ(start.pc, pc_ + kPlaces[i]);
    }
    const BlockPosition middle = locate(*trace_, address_of(trace_->host) + trace_->marks[kReturn].host + 20);
    EXPECT_FALSE(middle.exact);
    EXPECT_EQ(middle.pc, pc_ + 17);
    Registers registers{};
    thread_->spill[rcx] = 0xcc;
    thread_->spill[r11] = 0x11;
    restore_spilled(*thread_, middle, registers);
    EXPECT_EQ(registers.r[rcx], 0xccu);
    EXPECT_EQ(registers.r[r11], 0x11u);
}

TEST_P(Traces, GoWithTheCodeOfEachPiece) {
    cache_.remove_range(pc_ + kBetween, pc_ + kLeaf);
    EXPECT_FALSE(trace_->dead) << "no instruction of the trace";
    EXPECT_EQ(cache_.find(pc_), trace_);
    cache_.remove_range(pc_ + kLeaf, pc_ + kLeaf + 1);
    EXPECT_TRUE(trace_->dead);
    EXPECT_EQ(cache_.find(pc_), nullptr);
}

TEST_P(Traces, TakeThePlaceOfTheBlock) {
    cache_.remove(*trace_);
    Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
    Block* const block = translation.run({pc_, kLoop.data(), kLoop.size()}, 0, true);
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(cache_.add(*block));
    TracePath path{};
    path.pc[path.count++] = pc_ + kHead;
    Block* const trace = translate(path);
    ASSERT_NE(trace, nullptr);
    ASSERT_TRUE(cache_.add_trace(*trace));
    EXPECT_TRUE(block->dead);
    EXPECT_EQ(cache_.find(pc_), trace);
    EXPECT_EQ(trace->instructions, 2u);
}

TEST_P(Traces, EndWhereThePathIsNotThatOfTheCode) {
    TracePath path{};
    for (const std::uint64_t step : {kHead, kLeaf, kMore}) path.pc[path.count++] = pc_ + step;
    const Block* const trace = translate(path);  // the return does not lead to where the call was
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->instructions, std::size_t{kReturn} + 1);
}

TEST_P(Traces, EndBeforeABreakpoint) {
    ASSERT_TRUE(instrumentation_->code.add(pc_ + kMore));
    TracePath path{};
    for (const std::uint64_t step : {kHead, kLeaf, kAfterCall, kMore}) path.pc[path.count++] = pc_ + step;
    const Block* const trace = translate(path);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->instructions, std::size_t{kJz} + 1);
}

TEST_P(Traces, BeginWithBlocksThatCountTheirExecutions) {
    cache_.remove(*trace_);
    const auto prologue = [&] {
        Translation translation{cache_, *arena_, {}, *tuples_, *instrumentation_};
        const Block* const block = translation.run({pc_ + kAfterCall, kLoop.data() + kAfterCall, 12}, 0, false);
        return block == nullptr ? ~0u : unsigned{block->marks[0].host};
    };
    EXPECT_EQ(prologue(), 0u);
    cache_.heat = 64;
    EXPECT_EQ(prologue(), 16u);
    cache_.pairs_returns = true;
    EXPECT_EQ(prologue(), 0u);
}

INSTANTIATE_TEST_SUITE_P(SeparateWrites, Traces, testing::Bool());

}  // namespace
}  // namespace traces
}  // namespace anyperf::engine::x86_64
