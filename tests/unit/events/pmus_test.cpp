// pmus_test.cpp: events of PMUs that sysfs describes, on the fixture machines: terms, scales, and patterns of PMU
// names.
#include "abi/attr_flags.h"
#include "machines.h"

namespace anyperf::events {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PmuTerms, SetTheBitsNamedByTheFormat) {
    const Machine skylake = machine("intel-skylake-server");
    for (const auto& [text, config, config1] : {
             std::tuple{"cpu/event=0xc0,umask=1,cmask=2,inv/", 0x28001c0ull, 0ull},
             std::tuple{"cpu/event=0xc0,edge=1/u", 0x400c0ull, 0ull},
             std::tuple{"cpu/event=0xc0,edge=0/u", 0xc0ull, 0ull},
             std::tuple{"cpu/config=0x1c0/", 0x1c0ull, 0ull},
             std::tuple{"cpu/config=0xc0,umask=1/", 0x1c0ull, 0ull},
             std::tuple{"cpu/event=0xb7,umask=1,offcore_rsp=0x10001/", 0x1b7ull, 0x10001ull},
             std::tuple{"cpu/r1c0/", 0x1c0ull, 0ull},
             std::tuple{"cpu/cycles/", 0x3cull, 0ull},
             std::tuple{"cpu/cpu-cycles/", 0x3cull, 0ull},
             std::tuple{"cpu/instructions,period=1000/", 0xc0ull, 0ull},
             std::tuple{"mem-loads", 0x1cdull, 3ull},
             std::tuple{"cpu/mem-loads,ldlat=30/", 0x1cdull, 30ull},
             std::tuple{"cpu/ldlat=30,mem-loads/", 0x1cdull, 30ull},
             std::tuple{"uncore_upi_0/event=2,umask_ext=0x1ff/", 0x10000ff02ull, 0ull},
             std::tuple{"intel_pt/tsc,psb_period=3/", 0x3000400ull, 0ull},
         }) {
        const Event event = event_of(skylake, text);
        EXPECT_EQ(event.attr.config, config) << text;
        EXPECT_EQ(event.attr.config1, config1) << text;
    }
}

TEST(PmuTerms, SpreadAValueOverSplitBits) {
    const Machine zen = machine("amd-zen");
    EXPECT_EQ(event_of(zen, "cpu/event=0x1c7,umask=2/").attr.config, 0x1000002c7);
    EXPECT_EQ(event_of(zen, "amd_df/event=0x3fff,umask=0xfff/").attr.config, 0x3f0f00ffff);
}

TEST(PmuTerms, ReachConfig3AndConfig4) {
    const Event event = event_of(machine("arm-big-little"), "arm_spe_0/inv_event_filter=5,config4=7/");
    EXPECT_EQ(event.attr.config3, 5);
    EXPECT_EQ(event.attr.config4, 7);
}

TEST(PmuTerms, ThatAreWrongAreMarkedWithTheReason) {
    const Machine skylake = machine("intel-skylake-server");
    const Error large = error_of(skylake, "cs,cpu/event=0x3c,umask=0x100/");
    EXPECT_THAT(large.what, HasSubstr("\n    cs,cpu/event=0x3c,umask=0x100/\n                      ^~~~~~~~~~~"));
    EXPECT_EQ(large.cause, "0x100 does not fit into the 8 bits of 'umask' (config:8-15)");
    EXPECT_EQ(large.fix, "use 0 to 0xff");
    EXPECT_EQ(error_of(skylake, "cpu/evnt=1/").fix, "did you mean 'event'?");
    EXPECT_THAT(error_of(skylake, "cpu/event=1,config=1/").cause, HasSubstr("already set"));
    EXPECT_THAT(error_of(skylake, "cpu/event=1,event=1/").cause, HasSubstr("already set"));
    EXPECT_THAT(error_of(skylake, "cpu/ldlat=1,offcore_rsp=1/").cause, HasSubstr("already set"));
    EXPECT_EQ(error_of(skylake, "cpu/event=zz/").cause, "'zz' is not a number of at most 64 bits");
    EXPECT_EQ(error_of(skylake, "cpu/event=0x10000000000000000/").cause,
              "'0x10000000000000000' is not a number of at most 64 bits");
    EXPECT_EQ(error_of(skylake, "cpu/cycles,instructions/").cause, "there are two events between one pair of slashes");
    EXPECT_EQ(error_of(skylake, "cpux/event=1/").fix, "did you mean 'cpu'?");
}

TEST(PmuEvents, HaveScaleUnitAndPackageScope) {
    const Machine skylake = machine("intel-skylake-server");
    const Event ram = event_of(skylake, "energy-ram");
    EXPECT_EQ(ram.pmu, "power");
    EXPECT_EQ(ram.unit, "Joules");
    EXPECT_DOUBLE_EQ(ram.scale, 1.52587890625e-05);
    EXPECT_TRUE(ram.per_package);
    EXPECT_TRUE(ram.cpu_wide_only);
    EXPECT_THAT(ram.cpus, ElementsAre(0, 4));
    EXPECT_EQ(ram.attr.flags & abi::flag("exclude_guest"), 0);
    EXPECT_TRUE(event_of(skylake, "msr/cpu_thermal_margin/").snapshot);
}

TEST(PmuNames, MayBePatternsOrLackTheirNumber) {
    const Machine skylake = machine("intel-skylake-server");
    const auto each = ElementsAre("uncore_imc_0/clockticks/", "uncore_imc_1/clockticks/", "uncore_imc_2/clockticks/",
                                  "uncore_imc_10/clockticks/");
    EXPECT_THAT(names_of(skylake, "uncore_imc/clockticks/"), each);
    EXPECT_THAT(names_of(skylake, "imc/clockticks/"), each);
    EXPECT_THAT(names_of(skylake, "uncore_imc_*/clockticks/"), each);
    EXPECT_THAT(names_of(skylake, "uncore_im[a-c]*/clockticks/"), each);
    EXPECT_THAT(names_of(skylake, "uncore_cha_?/event=1,filter_tid=3/"),
                ElementsAre("uncore_cha_0/event=1,filter_tid=3/", "uncore_cha_1/event=1,filter_tid=3/"));
    EXPECT_THAT(names_of(skylake, "uncore_imc_1/clockticks/"), ElementsAre("uncore_imc_1/clockticks/"));
    EXPECT_EQ(event_of(skylake, "uncore_type_8/clockticks/").pmu, "uncore_upi_0");
    EXPECT_EQ(events_of(skylake, "uncore_*/clockticks/").size(), 7);
}

TEST(PmuNames, AreRequiredForEventsOfSeveralKindsOfPmus) {
    const Error error = error_of(machine("intel-skylake-server"), "clockticks");
    EXPECT_EQ(error.cause, "several PMUs have an event of this name");
    EXPECT_EQ(error.fix, "name one: uncore_cha/clockticks/, uncore_imc/clockticks/, uncore_upi/clockticks/");
}

TEST(PmuNames, AreFoundFromTheEventAlone) {
    EXPECT_THAT(
        names_of(machine("intel-skylake-server"), "cas_count_read"),
        ElementsAre("uncore_imc_0/cas_count_read/", "uncore_imc_1/cas_count_read/", "uncore_imc_2/cas_count_read/"));
    EXPECT_THAT(names_of(machine("intel-hybrid"), "mem-loads:u"),
                ElementsAre("cpu_atom/mem-loads/u", "cpu_core/mem-loads/u"));
    EXPECT_THAT(names_of(machine("intel-hybrid"), "slots"), ElementsAre("slots"));
}

TEST(PmuNames, OfHybridCoresAcceptTheKernelsEventNames) {
    const Event cache = event_of(machine("intel-hybrid"), "cpu_atom/LLC-loads/");
    EXPECT_EQ(cache.attr.type, 3);
    EXPECT_EQ(cache.attr.config, 0xa00000002);
    const Event cycles = event_of(machine("arm-big-little"), "armv8_cortex_a72/cycles/");
    EXPECT_EQ(cycles.attr.type, 9);
    EXPECT_EQ(cycles.attr.config, 0x11);
}

TEST(CommonTerms, SetTheirFields) {
    const Event event =
        event_of(machine("vm-without-pmu"),
                 "cycles/name='my event',period=1000,call-graph=dwarf,stack-size=4096,no-inherit,time=0,"
                 "branch_type=any_call|u,max-stack=8,overwrite/u");
    EXPECT_EQ(event.name, "my event");
    EXPECT_EQ(event.attr.sample_period, 1000);
    EXPECT_EQ(event.sampling.call_graph, "dwarf");
    EXPECT_EQ(event.sampling.stack_size, 4096);
    EXPECT_EQ(event.inherit, false);
    EXPECT_EQ(event.sampling.time, false);
    EXPECT_EQ(event.sampling.branch_type, 0x11);
    EXPECT_EQ(event.sampling.max_stack, 8);
    EXPECT_EQ(event.sampling.overwrite, true);
    EXPECT_NE(event.attr.flags & abi::flag("exclude_kernel"), 0);
    EXPECT_NE(event_of(machine("vm-without-pmu"), "cs/freq=99/").attr.flags & abi::flag("freq"), 0);
}

TEST(CommonTerms, ThatAreInvalidAreRefused) {
    const Machine vm = machine("vm-without-pmu");
    EXPECT_EQ(error_of(vm, "cycles/period=1,freq=2/").cause, "a period or frequency is already given");
    EXPECT_EQ(error_of(vm, "cycles/call-graph=x/").fix, "use fp, dwarf, lbr or no");
    EXPECT_EQ(error_of(vm, "cycles/umask=1/").cause, "'umask' is not a term of this event");
    EXPECT_EQ(error_of(vm, "cycles/perod=1/").fix, "did you mean 'period'?");
    EXPECT_EQ(error_of(vm, "cycles/period=9223372036854775808/").fix, "use at most 9223372036854775807");
    EXPECT_EQ(error_of(vm, "cycles/stack-size=7/").cause, "a stack size is a multiple of 8");
}

}  // namespace
}  // namespace anyperf::events
