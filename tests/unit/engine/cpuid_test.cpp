// cpuid_test.cpp: which features the engine hides from programs. The tests pass in the answer of a CPU that has every
// feature, so they do not depend on the CPU that runs them.
#include "engine/x86_64/cpu/cpuid.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace anyperf::engine::x86_64 {
namespace {

constexpr std::uint32_t kAll = ~std::uint32_t{0};

constexpr std::uint32_t bit_of(unsigned number) {
    return std::uint32_t{1} << number;
}

TEST(HiddenFeatures, AreTransactionsAndControlFlowEnforcement) {
    const CpuidAnswer shown = without_hidden_features(7, 0, {kAll, kAll, kAll, kAll});
    EXPECT_EQ(shown.eax, kAll);
    EXPECT_EQ(~shown.ebx, bit_of(4) | bit_of(11)) << "HLE, RTM";
    EXPECT_EQ(~shown.ecx, bit_of(7)) << "CET_SS";
    EXPECT_EQ(~shown.edx, bit_of(11) | bit_of(20)) << "RTM_ALWAYS_ABORT, CET_IBT";
}

TEST(HiddenFeatures, AreInOneSubleafOnly) {
    for (const auto& [leaf, subleaf] : {std::pair{1u, 0u}, std::pair{7u, 1u}, std::pair{0x80000001u, 0u}}) {
        const CpuidAnswer shown = without_hidden_features(leaf, subleaf, {kAll, kAll, kAll, kAll});
        for (const std::uint32_t shown_register : {shown.eax, shown.ebx, shown.ecx, shown.edx})
            EXPECT_EQ(shown_register, kAll) << leaf << "." << subleaf;
    }
}

TEST(HostCpuid, IsTheRunsListWhereThatHasTheLeaf) {
    const auto run = std::make_unique<run::RunHeader>();
    run->host_leaves[0] = {4, 1, 11, 12, 13, 14};
    run->host_leaves[1] = {kAll, kAll, 21, 22, 23, 24};
    run->host_leaf_count = 2;
    EXPECT_EQ(host_cpuid(4, 1, run.get()).ebx, 12u);
    EXPECT_EQ(host_cpuid(kAll, 7, run.get()).ecx, 23u) << "any subleaf";
    EXPECT_EQ(host_cpuid(0, 0, run.get()).ebx, host_cpuid(0, 0, nullptr).ebx) << "by the instruction";
    EXPECT_EQ(cpuid(kAll, 0, run.get()).edx, 24u);
}

TEST(HostCpuid, IsNotSeenInALeafOfWhichNothingIsKept) {
    const auto run = std::make_unique<run::RunHeader>();
    run->host_leaves[0] = {4, kAll, kAll, kAll, kAll, kAll};
    run->host_leaf_count = 1;
    run->identity[0] = {4, 2, {0, 0, 0, 0}, {31, 32, 33, 34}};
    run->identity_rows = 1;
    EXPECT_EQ(cpuid(4, 2, run.get()).eax, 31u);
    EXPECT_EQ(cpuid(4, 2, run.get()).edx, 34u);
    EXPECT_EQ(cpuid(4, 1, run.get()).eax, kAll) << "no row";
    run->identity[0].keep[1] = 0xf0;
    EXPECT_EQ(cpuid(4, 2, run.get()).ebx, 32u | 0xf0);
    EXPECT_EQ(cpuid(4, 2, run.get()).ecx, 33u);
}

TEST(HostCpuid, OfACompletePresentedCpuIsNotSeen) {
    const auto run = std::make_unique<run::RunHeader>();
    run->host_leaves[0] = {7, kAll, kAll, kAll, kAll, kAll};
    run->host_leaf_count = 1;
    run->identity_complete = 1;
    EXPECT_EQ(cpuid(7, 0, run.get()).ebx, 0u);
}

}  // namespace
}  // namespace anyperf::engine::x86_64
