// cpuinfo_test.cpp: /proc/cpuinfo presents the virtual CPU and keeps the rest of the host's file.
#include "pmu/cpu/cpuinfo.h"

#include <gtest/gtest.h>

#include "pmu/cpu/identity.h"

namespace anyperf::pmu {
namespace {

constexpr std::string_view kHost =
    "processor\t: 0\n"
    "vendor_id\t: AuthenticAMD\n"
    "cpu family\t: 25\n"
    "model\t\t: 1\n"
    "model name\t: AMD EPYC\n"
    "stepping\t: 1\n"
    "cpu MHz\t\t: 2445.418\n"
    "physical id\t: 0\n"
    "flags\t\t: fpu sse2 rtm rtm_always_abort topoext perfctr_core avx2\n"
    "TLB size\t: 2560 4K pages\n"
    "power management:\n"
    "\n"
    "processor\t: 1\n"
    "vendor_id\t: AuthenticAMD\n"
    "\n";

TEST(Cpuinfo, ReplacesTheHostsIdentityForEachCpu) {
    EXPECT_EQ(virtual_cpuinfo(kHost, kSkylakeServer, false),
              "processor\t: 0\n"
              "vendor_id\t: GenuineIntel\n"
              "cpu family\t: 6\n"
              "model\t\t: 85\n"
              "model name\t: " +
                  std::string{kSkylakeServer.brand} +
                  "\n"
                  "stepping\t: 4\n"
                  "cpu MHz\t\t: 3200.000\n"
                  "physical id\t: 0\n"
                  "flags\t\t: fpu sse2 avx2 arch_perfmon\n"
                  "power management:\n"
                  "\n"
                  "processor\t: 1\n"
                  "vendor_id\t: GenuineIntel\n"
                  "\n");
}

TEST(Cpuinfo, ListsArchPerfmonOnce) {
    EXPECT_EQ(virtual_cpuinfo("flags\t\t: fpu arch_perfmon sse2\n", kSkylakeClient, false),
              "flags\t\t: fpu arch_perfmon sse2\n");
}

TEST(Cpuinfo, LacksRandomNumbersInADeterministicRun) {
    EXPECT_EQ(virtual_cpuinfo("flags\t\t: fpu rdrand rdseed sse2\n", kSkylakeClient, true),
              "flags\t\t: fpu sse2 arch_perfmon\n");
    EXPECT_EQ(virtual_cpuinfo("flags\t\t: fpu rdrand sse2\n", kSkylakeClient, false),
              "flags\t\t: fpu rdrand sse2 arch_perfmon\n");
}

TEST(Cpuinfo, AcceptsIncompleteLines) {
    EXPECT_EQ(virtual_cpuinfo("", kSkylakeClient, false), "");
    EXPECT_EQ(virtual_cpuinfo("vendor_id", kSkylakeClient, false), "vendor_id\n");
    EXPECT_EQ(virtual_cpuinfo("vendor_id:", kSkylakeClient, false), "vendor_id: GenuineIntel\n");
}

}  // namespace
}  // namespace anyperf::pmu
