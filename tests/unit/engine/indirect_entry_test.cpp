// indirect_entry_test.cpp: runs an indirect entry of both forms (jrcxz, loop): a branch whose target matches continues
// with its registers and flags; any other branch goes on to the next entry with its target.
#include "engine/x86_64/translate/indirect_entry.h"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine::x86_64 {
namespace {

constexpr std::uint64_t kHere = 1;
constexpr std::uint64_t kLookupMiss = 2;
constexpr std::uint64_t kTargetBefore = 0x1111222233334444;
constexpr std::uint64_t kOtherBefore = 0x5555666677778888;
constexpr std::uint64_t kStatusBits = 0x8d5;

/// Where an indirect branch came out, and what its registers and flags were there.
struct Arrival {
    std::uint64_t where, target, other, flags;
};
using Branch = void (*)(std::uint64_t target, std::uint64_t flags, Arrival* arrival);

/// An indirect entry in executable memory, with code that jumps to it and code that reports where the branch came out.
class IndirectEntryAt {
  public:
    IndirectEntryAt(std::uint64_t pc, bool by_loop) {
        Emitter code{memory_, memory_ + kBytes / 2};
        Emitter cold{memory_ + kBytes / 2, memory_ + kBytes};
        const std::uint8_t* const report = code.at();
        emit_report(code);
        const auto lookup_miss = reinterpret_cast<std::uint64_t>(code.at());
        code.mov(rax, kLookupMiss);
        code.jmp(report);
        entry_.pc = pc;
        emit_indirect_entry(code, cold, entry_, 1, lookup_miss, by_loop);
        code.mov(rax, kHere);
        code.jmp(report);
        branch_ = reinterpret_cast<Branch>(code.at());
        emit_branch(code);
    }
    IndirectEntryAt(const IndirectEntryAt&) = delete;
    IndirectEntryAt& operator=(const IndirectEntryAt&) = delete;
    ~IndirectEntryAt() { munmap(memory_, kBytes); }

    Arrival arrival_of(std::uint64_t target, std::uint64_t flags) const {
        const auto thread = std::make_unique<Thread>();
        thread->spill[kTargetRegister] = kTargetBefore;
        thread->spill[kScratchRegister] = kOtherBefore;
        Arrival arrival{};
        syscall(SYS_arch_prctl, ARCH_SET_GS, thread.get());
        branch_(target, flags, &arrival);
        syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
        arrival.flags &= kStatusBits;
        return arrival;
    }

  private:
    static constexpr std::size_t kBytes = 4096;

    /// A function of the type Branch: rdi is the target, rsi the flags, rdx the arrival, which is kept in rbx.
    void emit_branch(Emitter& code) const {
        code.push(rbx);
        code.mov(rbx, rdx);
        code.push(rsi);
        code.popfq();
        code.mov(kTargetRegister, rdi);
        code.jmp(entry_.host);
    }

    /// Stores rax (where), the target register, the scratch register and the flags in the arrival, and returns.
    static void emit_report(Emitter& code) {
        static_assert(kTargetRegister == rcx && kScratchRegister == r11);
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
    IndirectEntry entry_;
    Branch branch_ = nullptr;
};

class IndirectEntries : public testing::TestWithParam<std::tuple<bool, std::uint64_t>> {
  protected:
    const std::uint64_t pc_ = std::get<1>(GetParam());
    const IndirectEntryAt entry_{pc_, std::get<0>(GetParam())};
};

TEST_P(IndirectEntries, ContinueWithRegistersAndFlagsOnAMatch) {
    for (const std::uint64_t flags : {std::uint64_t{2}, kStatusBits | 2}) {
        const Arrival arrival = entry_.arrival_of(pc_, flags);
        EXPECT_EQ(arrival.where, kHere);
        EXPECT_EQ(arrival.target, kTargetBefore);
        EXPECT_EQ(arrival.other, kOtherBefore);
        EXPECT_EQ(arrival.flags, flags & kStatusBits);
    }
}

TEST_P(IndirectEntries, PassTargetAndFlagsToTheNextOneOnAMismatch) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        for (const std::uint64_t target : {pc_ ^ one, pc_ + one, pc_ - one}) {
            const Arrival arrival = entry_.arrival_of(target, kStatusBits | 2);
            EXPECT_EQ(arrival.where, kLookupMiss) << std::hex << target;
            EXPECT_EQ(arrival.target, target);
            EXPECT_EQ(arrival.flags, kStatusBits);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(BothForms, IndirectEntries,
                         testing::Combine(testing::Bool(),
                                          testing::Values(0x401000, 0x7ffff7fe5b40, 0, 1, 0xffffffffff600000)));

}  // namespace
}  // namespace anyperf::engine::x86_64
