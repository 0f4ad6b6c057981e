// descriptions_test.cpp: `list --describe` gives an event the text of its own CPU. The trees are laid out as the
// vendors' repositories and as the kernel's tools/perf/pmu-events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/list/catalog_names.h"

namespace anyperf::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTrees = ANYPERF_SOURCE_DIR "/tests/fixtures/event_files/";
const std::string kMachine = ANYPERF_SOURCE_DIR "/tests/fixtures/machines/vm-without-pmu";

std::string listed(const std::string& tree, const std::string& pattern, bool json = false) {
    const auto text = catalog_names({{pattern}, json, kMachine, kTrees + tree});
    return text ? *text : "refused: " + text.error().cause;
}

Error refused(const std::string& directory) {
    const auto text = catalog_names({{"skl::*"}, false, kMachine, directory});
    return text ? Error{} : text.error();
}

TEST(Descriptions, InAVendorTreeBelongToTheCpuNamedByItsMap) {
    EXPECT_THAT(listed("vendor", "skl::INST_RETIRED"), HasSubstr("retired, Skylake"));
    EXPECT_THAT(listed("vendor", "bdw::INST_RETIRED"), Not(HasSubstr("retired, "))) << "the tree has no Broadwell";
    EXPECT_THAT(listed("vendor", "skl::INST_RETIRED", true), HasSubstr(R"("description": "retired, Skylake")"));
}

TEST(Descriptions, OnAHybridBelongToTheKindOfCore) {
    for (const char* tree : {"vendor", "kernel"}) {
        EXPECT_THAT(listed(tree, "adl_glc::INST_RETIRED"), HasSubstr("retired, big cores")) << tree;
        EXPECT_THAT(listed(tree, "adl_grt::INST_RETIRED"), HasSubstr("retired, small cores")) << tree;
    }
}

TEST(Descriptions, InAFolderWithoutAMapApplyToEveryCpu) {
    EXPECT_THAT(listed("vendor/SKL", "skl::INST_RETIRED"), HasSubstr("retired, Skylake"));
    EXPECT_THAT(listed("vendor/SKL/events", "bdw::INST_RETIRED"), HasSubstr("retired, Skylake"));
}

TEST(Descriptions, InTheKernelTreeAreFoundForEachArchitecture) {
    EXPECT_THAT(listed("kernel", "power9::PM_CYC"), HasSubstr("cycles of POWER9"));
    EXPECT_THAT(listed("kernel", "power10::PM_CYC"), Not(HasSubstr("POWER9")));
    EXPECT_THAT(listed("kernel/arch", "arm_n1::SW_INCR"), HasSubstr("increment of the N1"))
        << "it precedes the common list";
    EXPECT_THAT(listed("kernel/arch", "arm_n1::L1I_CACHE_REFILL"), HasSubstr("refill of every ARM"));
}

TEST(Descriptions, AreFoundByEventCodeIfTheVendorNamesDiffer) {
    EXPECT_THAT(listed("kernel", "zen4::RETIRED_INSTRUCTIONS"), HasSubstr("instructions of Zen 4"));
    EXPECT_THAT(listed("kernel", "zen3::RETIRED_INSTRUCTIONS"), Not(HasSubstr("Zen 4")));
}

TEST(Descriptions, InOneArmFolderIncludeTheCommonListAboveIt) {
    EXPECT_THAT(listed("kernel/arch/arm64/acme/n1", "arm_n1::L1I_CACHE_REFILL"), HasSubstr("refill of every ARM"));
}

TEST(Descriptions, FromAWrongDirectoryFailWithTheReason) {
    EXPECT_THAT(refused(kTrees + "nowhere").cause, HasSubstr("No such file"));
    EXPECT_THAT(refused(kTrees + "README.md").cause, HasSubstr("Not a directory"));
    EXPECT_THAT(refused(kMachine).cause, HasSubstr("no JSON file"));
    EXPECT_THAT(refused(kMachine).fix, HasSubstr("pmu-events"));
}

}  // namespace
}  // namespace anyperf::cli
