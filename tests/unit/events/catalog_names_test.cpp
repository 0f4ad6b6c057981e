// catalog_names_test.cpp: names of the catalog inside event strings.
#include "abi/attr_flags.h"
#include "machines.h"

namespace anyperf::events {
namespace {

using testing::HasSubstr;

TEST(CatalogNames, OfThisCpuNeedNoPrefix) {
    const Event event = event_of(machine("intel-skylake-server"), "BR_INST_RETIRED:CONDITIONAL:u");
    EXPECT_EQ(event.attr.type, 4);
    EXPECT_EQ(event.attr.config & 0xffff, 0x1c4);
    EXPECT_EQ(event.pmu, "cpu");
    EXPECT_NE(event.attr.flags & abi::flag("exclude_kernel"), 0);
}

TEST(CatalogNames, OfAnyCpuHaveAPrefix) {
    const Event event = event_of(machine("vm-without-pmu"), "skl::BR_INST_RETIRED:CONDITIONAL");
    EXPECT_EQ(event.attr.type, 4);
    EXPECT_EQ(event.attr.config & 0xffff, 0x1c4);
}

TEST(CatalogNames, TakePerfsModifiersAfterTheirOwn) {
    const Event event = event_of(machine("intel-skylake-server"), "BR_INST_RETIRED:CONDITIONAL:c=2:u:pp");
    EXPECT_EQ(event.attr.config >> 24 & 0xff, 2);
    EXPECT_EQ((event.attr.flags & abi::flag("precise_ip")) >> 15, 2);
    EXPECT_NE(event.attr.flags & abi::flag("exclude_kernel"), 0);
}

TEST(CatalogNames, ThatAreWrongAreMarked) {
    const Machine skylake = machine("intel-skylake-server");
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIRED:NOTHING").what,
                HasSubstr("\n    BR_INST_RETIRED:NOTHING\n                    ^~~~~~~"));
    EXPECT_EQ(error_of(skylake, "BR_INST_RETIRED:CONDITONAL").fix, "did you mean 'CONDITIONAL'?");
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIRED:xyz").fix, HasSubstr("its unit masks: CONDITIONAL"));
    EXPECT_EQ(error_of(skylake, "skx_::INST_RETIRED").fix, "did you mean 'skx'?");
    EXPECT_THAT(error_of(skylake, "skl::NOTHING").cause, HasSubstr("has no event called 'NOTHING'"));
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIERD").fix, HasSubstr("'BR_INST_RETIRED'"));
}

}  // namespace
}  // namespace anyperf::events
