// host_leaves_test.cpp: a leaf that is listed for the whole run must be the same on every CPU, and each time.
#include "broker/launch/host_leaves.h"

#include <cpuid.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <span>

namespace anyperf::broker {
namespace {

TEST(HostLeaves, AreWhatEachCpuAnswers) {
    const auto header = std::make_unique<run::RunHeader>();
    list_host_leaves(*header);
    ASSERT_LE(header->host_leaf_count, run::kHostLeaves);
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &before)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        for (std::uint32_t i = 0; i < header->host_leaf_count; ++i) {
            const run::RunHeader::HostLeaf& listed = header->host_leaves[i];
            unsigned a = 0, b = 0, c = 0, d = 0;
            __cpuid_count(listed.leaf, listed.subleaf == ~0u ? 5 : listed.subleaf, a, b, c, d);
            EXPECT_TRUE(a == listed.eax && b == listed.ebx && c == listed.ecx && d == listed.edx)
                << std::hex << listed.leaf << "." << listed.subleaf << " on CPU " << cpu;
        }
    }
    EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(HostLeaves, AreNotThoseThatThePresentedCpuReplaces) {
    const auto header = std::make_unique<run::RunHeader>();
    header->identity[0] = {4, 0, {}, {1, 2, 3, 4}};
    header->identity[1] = {4, ~0u, {}, {}};
    header->identity[2] = {7, 0, {~0u, ~0u, ~0u, 0}, {}};
    header->identity_rows = 3;
    list_host_leaves(*header);
    const std::span listed{header->host_leaves, header->host_leaf_count};
    EXPECT_EQ(std::ranges::count(listed, 4u, &run::RunHeader::HostLeaf::leaf), 0);
    EXPECT_TRUE(listed.empty() || std::ranges::count(listed, 7u, &run::RunHeader::HostLeaf::leaf) != 0);
}

}  // namespace
}  // namespace anyperf::broker
