// catalog_names_test.cpp: names of the catalog in event strings, with perf's modifiers, on the fixture machines.
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

TEST(CatalogNames, OfAnyCpuMayHaveAPrefix) {
    const Event event = event_of(machine("vm-without-pmu"), "skl::BR_INST_RETIRED:CONDITIONAL");
    EXPECT_EQ(event.attr.type, 4);
    EXPECT_EQ(event.attr.config & 0xffff, 0x1c4);
}

TEST(CatalogNames, AcceptPerfModifiersAfterTheirOwn) {
    const Event event = event_of(machine("intel-skylake-server"), "BR_INST_RETIRED:CONDITIONAL:c=2:u:pp");
    EXPECT_EQ(event.attr.config >> 24 & 0xff, 2);
    EXPECT_EQ((event.attr.flags & abi::flag("precise_ip")) >> 15, 2);
    EXPECT_NE(event.attr.flags & abi::flag("exclude_kernel"), 0);
}

TEST(CatalogNames, ThatAreWrongAreMarkedInTheMessage) {
    const Machine skylake = machine("intel-skylake-server");
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIRED:NOTHING").what,
                HasSubstr("\n    BR_INST_RETIRED:NOTHING\n                    ^~~~~~~"));
    EXPECT_EQ(error_of(skylake, "BR_INST_RETIRED:CONDITONAL").fix, "did you mean 'CONDITIONAL'?");
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIRED:xyz").fix, HasSubstr("its unit masks: CONDITIONAL"));
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIRED:CONDITIONAL:c=256").cause, HasSubstr("0 to 255"));
    EXPECT_EQ(error_of(skylake, "BR_INST_RETIRED:CONDITIONAL:c=256").fix, "") << "no other unit mask would help";
    EXPECT_THAT(error_of(skylake, "zen99::X").fix, HasSubstr("anyperf list --all"));
    EXPECT_EQ(error_of(skylake, "skx_::INST_RETIRED").fix, "did you mean 'skx'?");
    EXPECT_THAT(error_of(skylake, "skl::NOTHING").cause, HasSubstr("has no event called 'NOTHING'"));
    EXPECT_THAT(error_of(skylake, "BR_INST_RETIERD").fix, HasSubstr("'BR_INST_RETIRED'"));
}

TEST(CatalogNames, OfOtherCpusAreRefusedWithTheNearestEventOfThisCpu) {
    const Error on_amd = error_of(machine("amd-zen"), "INST_RETIRED:ANY_P");
    EXPECT_THAT(on_amd.what, HasSubstr("\n    INST_RETIRED:ANY_P\n    ^~~~~~~~~~~~"));
    EXPECT_THAT(on_amd.cause, HasSubstr("an event of other CPUs ("));
    EXPECT_THAT(on_amd.cause, HasSubstr("this CPU is amd64_fam19h_zen4"));
    EXPECT_THAT(on_amd.fix, HasSubstr("RETIRED_INSTRUCTIONS"));
    EXPECT_THAT(on_amd.fix, HasSubstr("instructions"));
    EXPECT_THAT(error_of(machine("intel-skylake-server"), "RETIRED_INSTRUCTIONS").fix, HasSubstr("INST_RETIRED"));
    EXPECT_THAT(error_of(machine("vm-without-pmu"), "UNC_CHA_TOR_INSERTS").cause, HasSubstr("other CPUs"));
}

TEST(CatalogNames, OfOtherCpusCanBeShownButNotCounted) {
    const Machine zen = machine("amd-zen");
    EXPECT_EQ(event_of(zen, "skl::INST_RETIRED:ANY_P").absent_pmu, "skl");
    EXPECT_EQ(event_of(zen, "zen4::RETIRED_INSTRUCTIONS").absent_pmu, "");
    const auto counted = parse(zen, "cycles,skl::INST_RETIRED:ANY_P", CatalogScope::this_machine);
    ASSERT_FALSE(counted.has_value());
    EXPECT_THAT(counted.error().what, HasSubstr("\n           ^~~"));
    EXPECT_THAT(counted.error().cause, HasSubstr("this machine has no skl"));
    EXPECT_THAT(counted.error().fix, HasSubstr("RETIRED_INSTRUCTIONS"));
    EXPECT_TRUE(parse(zen, "zen4::RETIRED_INSTRUCTIONS:u", CatalogScope::this_machine).has_value());
}

TEST(CatalogNames, AcceptTheEndOfAPmuNameAsPrefix) {
    const Machine zen = machine("amd-zen");
    EXPECT_EQ(event_of(zen, "zen4::RETIRED_INSTRUCTIONS:u").attr.config, 0xc0);
    EXPECT_EQ(event_of(zen, "zen4::RETIRED_INSTRUCTIONS:u").attr.flags,
              event_of(zen, "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:u").attr.flags);
    EXPECT_THAT(error_of(zen, "zen4::RETIRED_INSTRUCTION").fix, HasSubstr("RETIRED_INSTRUCTIONS"));
    EXPECT_THAT(error_of(zen, "zen4::RETIRED_INSTRUCTIONS:zz").what, HasSubstr("\n                               ^~"));
}

TEST(CatalogNames, OnAHybridAreOneEventForEachKindOfCoreThatHasIt) {
    const Machine hybrid = machine("intel-hybrid");
    const auto events = events_of(hybrid, "INST_RETIRED:ANY_P:u");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].name, "adl_grt::INST_RETIRED:ANY_P:u");
    EXPECT_EQ(events[0].pmu, "cpu_atom");
    EXPECT_EQ(events[1].name, "adl_glc::INST_RETIRED:ANY_P:u");
    EXPECT_EQ(events[1].pmu, "cpu_core");
    EXPECT_NE(events[0].attr.type, events[1].attr.type);
    EXPECT_NE(events[1].attr.flags & abi::flag("exclude_kernel"), 0);
    EXPECT_EQ(event_of(hybrid, events[1].name).attr.type, events[1].attr.type)
        << "the name of an event parses to the same event";
    EXPECT_EQ(event_of(hybrid, "adl_grt::INST_RETIRED:ANY_P").pmu, "cpu_atom");
    EXPECT_EQ(names_of(hybrid, "INST_RETIRED:ANY_P:pp").size(), 2U);
    EXPECT_THAT(names_of(hybrid, "{INST_RETIRED:ANY_P,cycles}"),
                testing::ElementsAre("adl_grt::INST_RETIRED:ANY_P", "cpu_atom/cycles/", "adl_glc::INST_RETIRED:ANY_P",
                                     "cpu_core/cycles/"));
    EXPECT_EQ(events_of(machine("intel-skylake-server"), "INST_RETIRED:ANY_P").size(), 1U);
}

TEST(CatalogNames, OfS390CountersOnOtherMachinesAreThoseOfTheNewest) {
    EXPECT_EQ(event_of(machine("amd-zen"), "cpum_cf::CPU_CYCLES").attr.config, 0);
    EXPECT_EQ(event_of(machine("amd-zen"), "cpum_cf::CPU_CYCLES").missing_pmu, "cpum_cf");
    EXPECT_FALSE(parse(machine("amd-zen"), "cpum_cf::CPU_CYCLES", CatalogScope::this_machine).has_value());
}

TEST(CatalogNames, OfUncorePmusMissingFromThisKernelAreShownWithoutAType) {
    const Event event = event_of(machine("vm-without-pmu"), "skx_unc_cha0::UNC_C_CLOCKTICKS");
    EXPECT_EQ(event.missing_pmu, "uncore_cha_0");
    EXPECT_FALSE(
        parse(machine("vm-without-pmu"), "skx_unc_cha0::UNC_C_CLOCKTICKS", CatalogScope::this_machine).has_value());
}

}  // namespace
}  // namespace anyperf::events
