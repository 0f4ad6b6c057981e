// landing_test.cpp: where indirect branches enter, in both forms, run: who is meant goes on with its registers and
// flags, everybody else goes to who is next with the target.
#include "engine/x86_64/landing.h"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

#include "engine/x86_64/thread.h"

namespace anyperf::engine::x86_64 {
namespace {

constexpr std::uint64_t kHere = 1;
constexpr std::uint64_t kNowhere = 2;
constexpr std::uint64_t kTargetBefore = 0x1111222233334444;
constexpr std::uint64_t kOtherBefore = 0x5555666677778888;
constexpr std::uint64_t kStatusBits = 0x8d5;

/// What has become of an indirect branch.
struct Arrival {
    std::uint64_t where, target, other, flags;
};
using Branch = void (*)(std::uint64_t target, std::uint64_t flags, Arrival* arrival);

/// A landing in memory that may be executed, and around it what jumps to it and tells where it came out.
class LandingAt {
  public:
    LandingAt(std::uint64_t pc, bool by_loop) {
        Emitter code{memory_, memory_ + kBytes / 2};
        Emitter cold{memory_ + kBytes / 2, memory_ + kBytes};
        const std::uint8_t* const tell = code.at();
        emit_tell(code);
        const auto nowhere = reinterpret_cast<std::uint64_t>(code.at());
        code.mov(rax, kNowhere);
        code.jmp(tell);
        landing_.pc = pc;
        emit_landing(code, cold, landing_, nowhere, by_loop);
        code.mov(rax, kHere);
        code.jmp(tell);
        branch_ = reinterpret_cast<Branch>(code.at());
        emit_branch(code);
    }
    LandingAt(const LandingAt&) = delete;
    LandingAt& operator=(const LandingAt&) = delete;
    ~LandingAt() { munmap(memory_, kBytes); }

    Arrival arrival_of(std::uint64_t target, std::uint64_t flags) const {
        const auto thread = std::make_unique<Thread>();
        thread->spill[kTarget] = kTargetBefore;
        thread->spill[kOther] = kOtherBefore;
        Arrival arrival{};
        syscall(SYS_arch_prctl, ARCH_SET_GS, thread.get());
        branch_(target, flags, &arrival);
        syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
        arrival.flags &= kStatusBits;
        return arrival;
    }

  private:
    static constexpr std::size_t kBytes = 4096;

    /// rdi: target, rsi: flags, rdx: the arrival, which is kept in rbx.
    void emit_branch(Emitter& code) const {
        code.push(rbx);
        code.mov(rbx, rdx);
        code.push(rsi);
        code.popfq();
        code.mov(kTarget, rdi);
        code.jmp(landing_.host);
    }

    /// Writes rax, the two registers and the flags to the arrival, and returns.
    static void emit_tell(Emitter& code) {
        static_assert(kTarget == rcx && kOther == r11);
        constexpr std::uint8_t kCode[] = {0x48, 0x89, 0x03,        // mov [rbx], rax
                                          0x48, 0x89, 0x4b, 0x08,  // mov [rbx + 8], rcx
                                          0x4c, 0x89, 0x5b, 0x10,  // mov [rbx + 16], r11
                                          0x9c, 0x58,              // pushfq; pop rax
                                          0x48, 0x89, 0x43, 0x18,  // mov [rbx + 24], rax
                                          0x5b, 0xc3};             // pop rbx; ret
        code.bytes(kCode, sizeof kCode);
    }

    std::uint8_t* memory_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Landing landing_;
    Branch branch_ = nullptr;
};

class Landings : public testing::TestWithParam<std::tuple<bool, std::uint64_t>> {
  protected:
    const std::uint64_t pc_ = std::get<1>(GetParam());
    const LandingAt landing_{pc_, std::get<0>(GetParam())};
};

TEST_P(Landings, WhoIsMeantGoesOnWithItsRegistersAndFlags) {
    for (const std::uint64_t flags : {std::uint64_t{2}, kStatusBits | 2}) {
        const Arrival arrival = landing_.arrival_of(pc_, flags);
        EXPECT_EQ(arrival.where, kHere);
        EXPECT_EQ(arrival.target, kTargetBefore);
        EXPECT_EQ(arrival.other, kOtherBefore);
        EXPECT_EQ(arrival.flags, flags & kStatusBits);
    }
}

TEST_P(Landings, EverybodyElseGoesToWhoIsNextWithTheTargetAndTheFlags) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        for (const std::uint64_t target : {pc_ ^ one, pc_ + one, pc_ - one}) {
            const Arrival arrival = landing_.arrival_of(target, kStatusBits | 2);
            EXPECT_EQ(arrival.where, kNowhere) << std::hex << target;
            EXPECT_EQ(arrival.target, target);
            EXPECT_EQ(arrival.flags, kStatusBits);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(BothForms, Landings,
                         testing::Combine(testing::Bool(),
                                          testing::Values(0x401000, 0x7ffff7fe5b40, 0, 1, 0xffffffffff600000)));

}  // namespace
}  // namespace anyperf::engine::x86_64
