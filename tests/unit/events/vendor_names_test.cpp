// vendor_names_test.cpp: perf's own names of a CPU's events mean what they mean in perf.
#include "events/vendor/vendor_lists.h"
#include "unit/events/machines.h"

namespace anyperf::events {
namespace {

using testing::HasSubstr;

Machine cpu(std::string_view name) {
    auto machine = Machine::of_cpu(name);
    EXPECT_TRUE(machine.has_value()) << name;
    return machine ? *machine : Machine::read("/nowhere");
}

// The codes are those that `perf stat -vv` of Linux 6.1 opens on these CPUs.
TEST(VendorNames, MeanWhatTheyMeanInPerf) {
    struct Row {
        const char* cpu;
        const char* name;
        std::uint64_t config, config1;
    };
    for (const auto& [name_of_cpu, name, config, config1] : {
             Row{"skylake", "inst_retired.any", 0xc0, 0},
             Row{"skylake", "INST_RETIRED.ANY", 0xc0, 0},
             Row{"skl", "cpu_clk_unhalted.thread", 0x3c, 0},
             Row{"skylake", "arith.divider_active", 0x1000114, 0},
             Row{"skylake", "br_inst_retired.conditional", 0x1c4, 0},
             Row{"skylake", "offcore_response.demand_data_rd.any_response", 0x1b7, 0x10001},
             Row{"skylake", "mem_trans_retired.load_latency_gt_64", 0x1cd, 0x40},
             Row{"amdzen4", "ex_ret_instr", 0xc0, 0},
             Row{"zen4", "ls_not_halted_cyc", 0x76, 0},
             Row{"amdzen5", "ex_ret_brn_misp", 0xc3, 0},
             Row{"amdzen3", "ex_ret_msprd_brnch_instr_dir_msmtch", 0x1000000c7, 0},
         }) {
        const Event event = event_of(cpu(name_of_cpu), name);
        EXPECT_EQ(event.attr.type, 4U) << name;
        EXPECT_EQ(event.attr.config, config) << name;
        EXPECT_EQ(event.attr.config1, config1) << name;
    }
}

// perf's lists of these CPUs (pmu-events/arch/arm64, arch/powerpc) have the vendors' names, as the catalog does.
TEST(VendorNames, OfArmAndPowerAreThoseOfTheCatalog) {
    EXPECT_EQ(event_of(cpu("arm_n1"), "inst_retired").attr.config, 0x08U);
    EXPECT_EQ(event_of(cpu("arm_ac72"), "L1D_CACHE_REFILL").attr.config, 0x03U);
    EXPECT_EQ(event_of(cpu("power9"), "pm_run_inst_cmpl").attr.config, 0x400faU);
}

TEST(VendorNames, AreNamesOfThisMachinesCpu) {
    const Machine server = machine("intel-skylake-server");
    EXPECT_EQ(event_of(server, "inst_retired.any").attr.config, 0xc0U);
    EXPECT_EQ(event_of(server, "inst_retired.any").pmu, "cpu");
    EXPECT_EQ(event_of(server, "inst_retired.any:k").name, "inst_retired.any:k");
    EXPECT_EQ(event_of(server, "INST_RETIRED:ANY_P").attr.config, 0xc0U) << "a name of the catalog";
}

TEST(VendorNames, TakeTermsOfTheCorePmu) {
    const Machine server = machine("intel-skylake-server");
    EXPECT_EQ(event_of(server, "cpu/inst_retired.any,cmask=2/").attr.config, 0x20000c0U);
    EXPECT_EQ(event_of(server, "cpu/arith.divider_active,cmask=3,name=divisions/u").attr.config, 0x3000114U);
    EXPECT_EQ(event_of(server, "arith.divider_active/inv/").attr.config, 0x1800114U);
}

TEST(VendorNames, AreOneEventForEachKindOfCoreThatHasIt) {
    EXPECT_THAT(names_of(machine("intel-hybrid"), "inst_retired.any"),
                testing::ElementsAre("cpu_atom/inst_retired.any/", "cpu_core/inst_retired.any/"));
    EXPECT_EQ(event_of(machine("intel-hybrid"), "arith.div_active").pmu, "cpu_core");
}

TEST(VendorNames, OfAnotherCpuAreUnknownWithNearNames) {
    EXPECT_THAT(error_of(cpu("amdzen5"), "ex_ret_instrs").fix, HasSubstr("ex_ret_instr"));
}

TEST(VendorNames, OfAnUnknownCpuAreAnErrorWithNearNames) {
    const auto refused = Machine::of_cpu("skylaje");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().fix, HasSubstr("skylake"));
}

TEST(VendorLists, AreThoseThatPerfChoosesForACpu) {
    using Kind = catalog::Cpu::Kind;
    const auto list = [](Kind kind, std::uint16_t family, std::uint16_t model, std::uint8_t stepping) {
        catalog::Cpu cpu;
        cpu.kind = kind;
        cpu.family = family;
        cpu.model = model;
        cpu.stepping = stepping;
        const vendor::ListRow* found = vendor::list_of(cpu);
        return found == nullptr ? std::string{} : std::string{vendor::text(found->name)};
    };
    EXPECT_EQ(list(Kind::intel, 6, 0x5e, 3), "skylake");
    EXPECT_EQ(list(Kind::intel, 6, 0x55, 4), "skylakex");
    EXPECT_EQ(list(Kind::intel, 6, 0x55, 7), "cascadelakex");
    EXPECT_EQ(list(Kind::amd, 25, 0x21, 0), "amdzen3");
    EXPECT_EQ(list(Kind::amd, 25, 0x61, 2), "amdzen4");
    EXPECT_EQ(list(Kind::amd, 26, 0x02, 1), "amdzen5");
    EXPECT_EQ(list(Kind::intel, 15, 2, 0), "");
    EXPECT_EQ(list(Kind::arm, 0, 0, 0), "");
}

TEST(VendorLists, FindEachOfTheirNames) {
    for (const vendor::ListRow& list : vendor::lists()) {
        for (const vendor::EventRow& event : vendor::events(list))
            EXPECT_FALSE(vendor::find_events(list, vendor::text(event.name)).empty()) << vendor::text(event.name);
        for (const vendor::MetricRow& metric : vendor::metrics(list))
            EXPECT_NE(vendor::find_metric(list, vendor::text(metric.name)), nullptr) << vendor::text(metric.name);
    }
}

// Noticed beside: a name of the catalog lost cpu=N to the PMU's own list of CPUs, and suggestions had masks that this
// model of the family lacks.
TEST(CatalogNames, KeepTheCpuThatTheyName) {
    EXPECT_EQ(event_of(machine("intel-skylake-server"), "INST_RETIRED:ANY_P:cpu=1").cpus, std::vector<int>{1});
}

TEST(CatalogNames, AreNotRefusedWithMasksThatTheModelLacks) {
    const std::string event = "::MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_HITN";
    EXPECT_THAT(error_of(cpu("bdw"), "bdw_ep" + event).fix, HasSubstr("REMOTE_HITM"));
    EXPECT_THAT(error_of(cpu("bdw"), "bdw" + event).fix, testing::Not(HasSubstr("REMOTE")));
}

}  // namespace
}  // namespace anyperf::events
