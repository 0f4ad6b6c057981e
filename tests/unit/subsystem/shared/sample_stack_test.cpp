// sample_stack_test.cpp: how much of the user stack a sample has (PERF_SAMPLE_STACK_USER).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "subsystem/shared/sample.h"
#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem {
namespace {

using ::testing::ElementsAre;
using testing::TestRing;

constexpr std::uint64_t kTop = 0x7ffffff00000;

/// A stack of so many readable bytes. The value of each is its distance from the stack pointer.
struct Readable {
    std::size_t bytes;
    static std::size_t copy(void* context, void* to, std::uint64_t address, std::size_t wanted) {
        const std::size_t from = address - kTop;
        const std::size_t bytes = static_cast<Readable*>(context)->bytes;
        const std::size_t part = from >= bytes ? 0 : std::min(wanted, bytes - from);
        for (std::size_t i = 0; i < part; ++i)
            static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(from + i);
        return part;
    }
};

class StackOf {
  public:
    explicit StackOf(std::uint32_t asked, std::size_t readable = 1 << 20) : readable_{readable} {
        ring.event.shape.sample_type = abi::sample("PERF_SAMPLE_STACK_USER");
        ring.event.shape.sample_stack_user = asked;
        facts.stack = {.pointer = kTop, .context = &readable_, .copy = Readable::copy};
    }
    std::vector<std::uint64_t> words() {
        EXPECT_TRUE(write_sample(ring.ring(), ring.event, facts).written);
        return ring.drain().front().words;
    }
    TestRing ring{{.pages = 32}};
    SampleFacts facts;

  private:
    Readable readable_;
};

TEST(UserStack, HasItsSizeItsBytesAndTheNumberOfValidBytes) {
    EXPECT_THAT(StackOf{16}.words(), ElementsAre(16, 0x0706050403020100, 0x0f0e0d0c0b0a0908, 16));
}

TEST(UserStack, OfZeroBytesIsOneWord) {
    EXPECT_THAT(StackOf{0}.words(), ElementsAre(0));
}

TEST(UserStack, ThatIsMissingIsOneWord) {
    StackOf stack{64};
    stack.facts.stack.copy = nullptr;
    EXPECT_THAT(stack.words(), ElementsAre(0));
}

TEST(UserStack, ThatEndsEarlyIsFilledWithZeros) {
    EXPECT_THAT(StackOf(24, 9).words(), ElementsAre(24, 0x0706050403020100, 0x08, 0, 9));
}

TEST(UserStack, IsCutSoThatTheRecordStaysBelow64KiB) {
    StackOf stack{65'528};
    const auto words = stack.words();
    EXPECT_EQ(words.front(), 65'504u);
    EXPECT_EQ(words.back(), 65'504u);
}

TEST(UserStack, LeavesRoomForTheFieldsAfterIt) {
    StackOf stack{65'528};
    std::uint64_t registers[24] = {};
    stack.facts.interrupted_registers = registers;
    stack.ring.event.shape.sample_type |= abi::sample("PERF_SAMPLE_REGS_INTR");
    stack.ring.event.shape.sample_regs_intr = 0xff0fff;
    EXPECT_EQ(stack.words().front(), 65'504u - 8 * 21);
}

TEST(UserStack, DoesNotReachBeyondUserMemory) {
    EXPECT_EQ(stack_bytes(4096, 8, 0x7ffffffff000 - 256), 256u);
    EXPECT_EQ(stack_bytes(4096, 8, 0xffff'ffff'8000'0000), 0u);
}

TEST(UserStack, WrapsAroundTheEndOfTheRing) {
    StackOf stack{1000};
    for (int i = 0; i < 500; ++i) {
        const auto words = stack.words();
        ASSERT_EQ(words.front(), 1000u);
        ASSERT_EQ(words[1], 0x0706050403020100u);
        ASSERT_EQ(words[125], 0xe7e6e5e4e3e2e1e0u) << "bytes 992 to 999";
        ASSERT_EQ(words.back(), 1000u);
    }
}

}  // namespace
}  // namespace anyperf::subsystem
