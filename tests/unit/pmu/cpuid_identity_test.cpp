// cpuid_identity_test.cpp: CPUID presents the virtual CPU (vendor, signature, brand, caches, PMU) and keeps the host's
// features.
#include "pmu/cpu/cpuid_identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace anyperf::pmu {
namespace {

/// What the host's CPU answers to every leaf.
constexpr CpuidRegisters kHost{0x0000'000d, 0x6874'7541, 0x444d'4163, 0x6974'6e65};  // AuthenticAMD

CpuidRegisters answer(std::uint32_t leaf, std::uint32_t subleaf, const CpuidRegisters& host = kHost,
                      const CpuIdentity& cpu = kSkylakeServer) {
    for (const CpuidRow& row : kCpuidRows)
        if (row.matches(leaf, subleaf)) return row.apply(host);
    for (const CpuidRow& row : identity_rows(cpu))
        if (row.matches(leaf, subleaf)) return row.apply(host);
    return host;
}

std::string text(std::initializer_list<std::uint32_t> registers) {
    std::string letters;
    for (const std::uint32_t word : registers) letters.append(reinterpret_cast<const char*>(&word), 4);
    return letters;
}

TEST(Cpuid, HasTheVendorAndTheHostsHighestLeaf) {
    const CpuidRegisters leaf = answer(0, 0);
    EXPECT_EQ(text({leaf.ebx, leaf.edx, leaf.ecx}), "GenuineIntel");
    EXPECT_EQ(leaf.eax, 0xdu);
}

TEST(Cpuid, SignatureIsFamilyModelStepping) {
    EXPECT_EQ(answer(1, 0).eax, 0x5'06'5'4u) << "family 6, model 0x55, stepping 4";
    EXPECT_EQ(answer(1, 0, kHost, kSkylakeClient).eax, 0x5'06'e'3u) << "family 6, model 0x5e, stepping 3";
    EXPECT_EQ(answer(1, 0).ecx, kHost.ecx) << "features are the host's";
}

TEST(Cpuid, BrandMatchesCpuinfo) {
    std::string brand;
    for (const std::uint32_t leaf : {0x80000002u, 0x80000003u, 0x80000004u}) {
        const CpuidRegisters part = answer(leaf, 0);
        brand += text({part.eax, part.ebx, part.ecx, part.edx});
    }
    EXPECT_EQ(std::string{brand.c_str()}, kSkylakeServer.brand);
}

/// The size of a cache from its subleaf of leaf 4 (SDM volume 2, CPUID).
std::uint64_t cache_bytes(const CpuidRegisters& leaf) {
    const std::uint64_t ways = (leaf.ebx >> 22) + 1, line = (leaf.ebx & 0xfff) + 1;
    return ways * line * (std::uint64_t{leaf.ecx} + 1);
}

TEST(Cpuid, DescribesTheCachesAndThenEndsTheList) {
    EXPECT_EQ(cache_bytes(answer(4, 0)), 32u << 10);
    EXPECT_EQ(cache_bytes(answer(4, 1)), 32u << 10);
    EXPECT_EQ(cache_bytes(answer(4, 2)), 1u << 20);
    EXPECT_EQ(cache_bytes(answer(4, 3)), 25344u << 10);
    EXPECT_EQ(answer(4, 3).eax >> 5 & 7, 3u) << "level";
    EXPECT_EQ(answer(4, 4), CpuidRegisters{});
}

TEST(ArchitecturalPmu, HasTheRequestedCountersOrEight) {
    EXPECT_EQ(architectural_pmu(0).value.eax, 0x07300804u);
    EXPECT_EQ(architectural_pmu(4).value.eax, 0x07300404u);
    EXPECT_EQ(architectural_pmu(4).value.edx, 0x603u) << "three fixed counters of 48 bits";
    EXPECT_EQ(architectural_pmu(4).value.ebx, 0u) << "the PMU counts all seven architectural events";
}

}  // namespace
}  // namespace anyperf::pmu
