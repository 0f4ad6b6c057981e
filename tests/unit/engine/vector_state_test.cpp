// vector_state_test.cpp: an area of the size that CPUID reports is large enough to save and reset this CPU's vector
// state, including what the CPU accesses beyond the components in XSTATE_BV. A guard page follows each area.
#include "engine/x86_64/cpu/vector_state.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::x86_64 {
namespace {

constexpr std::uint64_t kAllFeatures = ~std::uint64_t{0};

/// `bytes` of zeros, 64-byte aligned, that end at most 63 bytes before a page without access rights.
class GuardedArea {
  public:
    explicit GuardedArea(std::size_t bytes) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t rounded = (bytes + page - 1) / page * page;
        mapping_ = {static_cast<std::uint8_t*>(
                        mmap(nullptr, rounded + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                    rounded + page};
        mprotect(mapping_.data() + rounded, page, PROT_NONE);
        constexpr std::size_t kAlignment = 64;
        area_ = mapping_.data() + (rounded - bytes) / kAlignment * kAlignment;
    }
    GuardedArea(const GuardedArea&) = delete;
    GuardedArea& operator=(const GuardedArea&) = delete;
    ~GuardedArea() { munmap(mapping_.data(), mapping_.size()); }
    std::uint8_t* data() const { return area_; }

  private:
    std::span<std::uint8_t> mapping_;
    std::uint8_t* area_ = nullptr;
};

std::uint32_t mxcsr() {
    std::uint32_t value;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
}

std::uint16_t control_word() {
    std::uint16_t value;
    asm volatile("fnstcw %0" : "=m"(value));
    return value;
}

TEST(VectorState, SizeIsWhatThisCpuNeeds) {
    const VectorStateFormat format = vector_state_format();
    EXPECT_GE(format.bytes, format.has_xsave ? 576u : 512u);
    EXPECT_EQ(format.has_xsave, __builtin_cpu_supports("xsave") != 0);
}

TEST(VectorState, InitialAreaBeforeAGuardPageResetsTheRegisters) {
    const VectorStateFormat format = vector_state_format();
    const GuardedArea area{format.bytes};
    make_initial_vector_state(area.data(), format);
    std::uint64_t low = 1;
    const std::uint32_t rounds_down = 0x3f80;
    const std::uint16_t single_precision = 0x007f;
    asm volatile("ldmxcsr %0" : : "m"(rounds_down));
    asm volatile("fldcw %0" : : "m"(single_precision));
    asm volatile("pcmpeqd %%xmm3, %%xmm3" : : : "xmm3");
    load_initial_vector_state(area.data(), format, kAllFeatures);
    asm volatile("movq %%xmm3, %0" : "=r"(low));
    EXPECT_EQ(low, 0u);
    EXPECT_EQ(mxcsr(), 0x1f80u);
    EXPECT_EQ(control_word(), 0x037f);
}

TEST(VectorState, ResetWithoutXsaveUsesTheLegacyAreaOnly) {
    VectorStateFormat format;
    format.bytes = 512;
    const GuardedArea area{format.bytes};
    make_initial_vector_state(area.data(), format);
    const std::uint16_t single_precision = 0x007f;
    asm volatile("fldcw %0" : : "m"(single_precision));
    load_initial_vector_state(area.data(), format, kAllFeatures);
    EXPECT_EQ(control_word(), 0x037f);
    EXPECT_EQ(mxcsr(), 0x1f80u);
}

TEST(VectorState, SavedStateFitsBeforeAGuardPage) {
    const VectorStateFormat format = vector_state_format();
    if (!format.has_xsave) GTEST_SKIP() << "this CPU or kernel has no XSAVE";
    const GuardedArea area{format.bytes};
    EXPECT_TRUE(guarded_xsave(area.data(), kAllFeatures));
}

TEST(VectorState, ResetLeavesProtectionKeyRights) {
    const VectorStateFormat format = vector_state_format();
    if (!format.has_pkru) GTEST_SKIP() << "this CPU or kernel has no protection keys";
    const GuardedArea area{format.bytes};
    make_initial_vector_state(area.data(), format);
    const std::uint32_t before = read_pkru();
    const std::uint32_t other = before ^ 0x40000000;
    write_pkru(other);
    load_initial_vector_state(area.data(), format, kAllFeatures);
    const std::uint32_t after = read_pkru();
    write_pkru(before);
    EXPECT_EQ(after, other);
}

}  // namespace
}  // namespace anyperf::engine::x86_64
