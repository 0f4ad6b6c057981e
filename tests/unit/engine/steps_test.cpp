// steps_test.cpp: the code that charges a step, run; which addresses follow a call; the steps of a trace's branches.
#include "engine/x86_64/translate/steps.h"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine::x86_64 {
namespace {

TEST(FollowsCall, RecognizesEachFormOfACall) {
    const std::vector<std::vector<std::uint8_t>> calls{
        {0xe8, 1, 2, 3, 4},              // call rel32
        {0xff, 0xd0},                    // call *rax
        {0xff, 0x10},                    // call *(rax)
        {0xff, 0x50, 8},                 // call *8(rax)
        {0xff, 0x90, 0, 1, 0, 0},        // call *256(rax)
        {0xff, 0x15, 1, 2, 3, 4},        // call *(rip)
        {0xff, 0x14, 0xc8},              // call *(rax, rcx, 8)
        {0xff, 0x54, 0xc8, 8},           // call *8(rax, rcx, 8)
        {0xff, 0x94, 0xc8, 0, 1, 0, 0},  // call *256(rax, rcx, 8)
        {0xff, 0x14, 0xc5, 0, 1, 0, 0},  // call *256(, rax, 8)
        {0x41, 0xff, 0x54, 0x24, 0x10},  // call *16(r12)
    };
    for (const std::vector<std::uint8_t>& call : calls) {
        std::vector<std::uint8_t> code(16, 0x90);
        code.insert(code.end(), call.begin(), call.end());
        EXPECT_TRUE(follows_call(address_of(code.data() + code.size()))) << call.size();
    }
}

TEST(FollowsCall, IsFalseAfterOtherInstructions) {
    const std::vector<std::vector<std::uint8_t>> others{
        {0xeb, 1}, {0xe9, 1, 2, 3, 4}, {0xff, 0xe0}, {0xff, 0x25, 1, 2, 3, 4}, {0xff, 0x30}, {0x90}, {0xff, 0x15, 1, 2},
    };
    for (const std::vector<std::uint8_t>& other : others) {
        std::vector<std::uint8_t> code(16, 0x90);
        code.insert(code.end(), other.begin(), other.end());
        EXPECT_FALSE(follows_call(address_of(code.data() + code.size()))) << other.size();
    }
}

TEST(Steps, AreMadeByBranchesThatGoBackAndByIndirectOnes) {
    EXPECT_TRUE(makes_step(bit(Class::conditional), 100, 100));
    EXPECT_TRUE(makes_step(bit(Class::calls), 100, 50));
    EXPECT_FALSE(makes_step(bit(Class::calls), 100, 101));
    EXPECT_TRUE(makes_step(bit(Class::indirect) | bit(Class::calls), 100, 200));
    EXPECT_FALSE(makes_step(bit(Class::returns), 100, 50));
}

/// The code that charges steps, after which a function returns 1; its exit returns 0.
class Charge {
  public:
    explicit Charge(bool flags_dead, std::size_t steps) {
        Emitter code{memory_, memory_ + kBytes / 2};
        Emitter cold{memory_ + kBytes / 2, memory_ + kBytes};
        EXPECT_TRUE(arena_.map_near(address_of(memory_), false, false));
        // An exit jumps to the start of the arena's cold part, plus the reason: there the function returns 0.
        std::uint8_t* const exit = const_cast<std::uint8_t*>(exit_jump_of(arena_, ExitReason::step));
        const std::uint8_t kReturnZero[] = {0x9c, 0x5a, 0x31, 0xc0, 0xc3};  // pushf; pop rdx; xor eax, eax; ret
        __builtin_memcpy(exit, kReturnZero, sizeof kReturnZero);
        code.bytes(kSetFlags, sizeof kSetFlags);
        const std::uint8_t* const start = code.at();
        emit_step_charge(code, cold, arena_, kBlock, steps, flags_dead);
        bytes = static_cast<std::size_t>(code.at() - start);
        const std::uint8_t kReturnOne[] = {0x9c, 0x5a, 0x31, 0xc0, 0xff, 0xc0, 0xc3};
        code.bytes(kReturnOne, sizeof kReturnOne);
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() { munmap(memory_, kBytes); }

    /// True: the code has fallen through. `flags`: what they were then; all were set before.
    bool run(Thread& thread, std::uint64_t& flags) const {
        std::uint64_t through = 0;
        std::uint64_t rcx_after = kRcx;
        syscall(SYS_arch_prctl, ARCH_SET_GS, &thread);
        asm volatile("call *%3" : "=a"(through), "=d"(flags), "+c"(rcx_after) : "r"(memory_) : "memory", "cc");
        syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
        EXPECT_EQ(rcx_after, kRcx);
        return through != 0;
    }

    static constexpr BlockId kBlock = 6;
    std::size_t bytes = 0;

  private:
    static constexpr std::size_t kBytes = 4096;
    static constexpr std::uint64_t kRcx = 0x1234567890abcdef;
    static constexpr std::uint8_t kSetFlags[] = {0x68, 0xd7, 0x08, 0, 0, 0x9d};  // push $0x8d7; popf
    Arena arena_;
    std::uint8_t* memory_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
};

constexpr std::uint64_t kStatusFlagBits = 0x8d5;

TEST(StepCharge, TakesStepsFromItsLaneUntilTheyAreUsedUp) {
    for (const bool flags_dead : {true, false}) {
        constexpr std::size_t kSteps = 3;
        const Charge charge{flags_dead, kSteps};
        EXPECT_EQ(charge.bytes, flags_dead ? kStepBytes : kLongStepBytes);
        const auto thread = std::make_unique<Thread>();
        std::int64_t& lane = thread->turn.lane[step_lane(Charge::kBlock)];
        lane = 7;
        std::uint64_t flags = 0;
        EXPECT_TRUE(charge.run(*thread, flags));
        EXPECT_TRUE(flags_dead || (flags & kStatusFlagBits) == kStatusFlagBits);
        EXPECT_TRUE(charge.run(*thread, flags));
        EXPECT_EQ(lane, 1);
        EXPECT_FALSE(charge.run(*thread, flags));
        EXPECT_TRUE(flags_dead || (flags & kStatusFlagBits) == kStatusFlagBits);
        EXPECT_EQ(lane, -2);
        EXPECT_EQ(thread->exit_payload, Charge::kBlock);
    }
}

}  // namespace
}  // namespace anyperf::engine::x86_64
