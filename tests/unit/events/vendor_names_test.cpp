// vendor_names_test.cpp: perf's own names of a CPU's events mean what they mean in perf.
#include <filesystem>
#include <fstream>

#include "events/sources/vendor_pmus.h"
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
    EXPECT_EQ(event_of(machine("intel-hybrid"), "arith.fp_divider_active").pmu, "cpu_core");
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
            EXPECT_FALSE(vendor::find_events(list, vendor::name_of(event)).empty()) << vendor::name_of(event);
        for (const vendor::MetricRow& metric : vendor::metrics(list))
            EXPECT_NE(vendor::find_metric(list, vendor::text(metric.name)), nullptr) << vendor::text(metric.name);
    }
}

// The PMU's own list of CPUs does not replace cpu=N.
TEST(CatalogNames, KeepTheCpuThatTheyName) {
    EXPECT_EQ(event_of(machine("intel-skylake-server"), "INST_RETIRED:ANY_P:cpu=1").cpus, std::vector<int>{1});
}

TEST(CatalogNames, AreRefusedWithMasksThatTheirModelHas) {
    const std::string event = "::MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_HITN";
    EXPECT_THAT(error_of(cpu("bdw"), "bdw_ep" + event).fix, HasSubstr("REMOTE_HITM"));
    EXPECT_THAT(error_of(cpu("bdw"), "bdw" + event).fix, testing::Not(HasSubstr("REMOTE")));
}

// The codes are those of the kernel's drivers, uncore_snbep.c, uncore_snb.c and amd/uncore.c: event 0-7, umask 8-15 and
// on later servers 32-55, filters in config1.
TEST(UncoreNames, OfAnyCpuHaveTheCodesOfTheirPmu) {
    struct Row {
        const char* cpu;
        const char* name;
        const char* pmu;
        std::uint64_t config, config1;
    };
    for (const auto& [name_of_cpu, name, pmu, config, config1] : {
             Row{"skylakex", "unc_m_cas_count.rd", "uncore_imc", 0x304, 0},
             Row{"skylakex", "unc_cha_tor_occupancy.io_miss_rfo", "uncore_cha", 0x2436, 0x40033},
             Row{"haswellx", "llc_misses.mmio_write", "uncore_cbox", 0x335, 0x18full << 52 | 1ull << 62},
             Row{"jaketown", "unc_p_power_state_occupancy.cores_c6", "uncore_pcu", 0x80 | 3 << 14, 0},
             Row{"snowridgex", "unc_iio_txn_req_of_cpu.peer_write.part7", "uncore_iio",
                 0x284 | 0x80ull << 36 | 7ull << 48, 0},
             Row{"skylake", "unc_arb_trk_occupancy.cycles_with_any_request", "uncore_arb", 0x1000180, 0},
             Row{"amdzen4", "l3_lookup_state.l3_miss", "amd_l3", 0x104, 0},
         }) {
        const Event event = event_of(cpu(name_of_cpu), name);
        EXPECT_EQ(event.missing_pmu, pmu) << name;
        EXPECT_EQ(event.attr.config, config) << name;
        EXPECT_EQ(event.attr.config1, config1) << name;
        EXPECT_TRUE(event.cpu_wide_only) << name;
        EXPECT_EQ(event.attr.flags, 0U) << name << ": these PMUs refuse exclude_guest";
    }
}

TEST(UncoreNames, AreOneEventForEachInstanceOfThePmu) {
    const Machine server = machine("intel-skylake-server");
    EXPECT_THAT(names_of(server, "unc_m_cas_count.rd"),
                testing::ElementsAre("uncore_imc_0/unc_m_cas_count.rd/", "uncore_imc_1/unc_m_cas_count.rd/",
                                     "uncore_imc_2/unc_m_cas_count.rd/", "uncore_imc_10/unc_m_cas_count.rd/"));
    EXPECT_EQ(events_of(server, "UNC_M_CAS_COUNT.RD").front().attr.config, 0x304U);
    EXPECT_EQ(event_of(server, "uncore_imc_1/unc_m_cas_count.rd,umask=4/").attr.config, 0x404U);
    EXPECT_EQ(events_of(server, "imc/unc_m_cas_count.rd/").size(), 4U);
}

TEST(UncoreNames, BringTheScaleOfTheList) {
    const Event event = event_of(cpu("skylakex"), "llc_misses.mem_read");
    EXPECT_EQ(event.scale, 64);
    EXPECT_EQ(event.unit, "Bytes");
    EXPECT_TRUE(event.per_package);
}

TEST(UncoreNames, CannotBeOpenedWithoutThePmu) {
    const auto refused = parse(machine("intel-hybrid"), "unc_arb_trk_requests.all", CatalogScope::this_machine);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().cause, HasSubstr("no PMU uncore_arb"));
}

// perf's lists of these CPUs (pmu-events/arch of Linux) have codes that the catalog lacks.
TEST(VendorNames, OfOtherArchitecturesHaveTheCodesOfTheList) {
    struct Row {
        const char* cpu;
        const char* name;
        const char* missing_pmu;
        std::uint64_t config;
    };
    for (const auto& [name_of_cpu, name, missing_pmu, config] : {
             Row{"arm/neoverse-n1", "inst_retired", "", 0x08},
             Row{"neoverse-n2-v2", "STALL_SLOT_BACKEND", "", 0x3d},
             Row{"power10", "pm_inst_cmpl", "", 0x100fe},
             Row{"cf_z15", "prng_functions", "cpum_cf", 0x40},
             Row{"sifive/bullet", "addressgen_interlock", "", 0x101},
             Row{"hip08", "flux_rd", "hisi_sccl,ddrc", 0x1},
             Row{"imx8mm/sys", "imx8mm_ddr.read", "imx8_ddr", 0x35},
             Row{"cmn/sys", "hnf_cache_miss", "arm_cmn", 0x10005},
         }) {
        const Event event = event_of(cpu(name_of_cpu), name);
        EXPECT_EQ(event.missing_pmu, missing_pmu) << name;
        EXPECT_EQ(event.attr.config, config) << name;
    }
}

// A Cortex-A72 has events that an A53 lacks, and the other way around.
TEST(VendorNames, AreThoseOfTheKindOfCoreOfThePmu) {
    const Machine board = machine("arm-big-little");
    EXPECT_EQ(event_of(board, "br_immed_spec").pmu, "armv8_cortex_a72");
    EXPECT_EQ(event_of(board, "agu_dep_stall").pmu, "armv8_cortex_a53");
    EXPECT_EQ(event_of(board, "agu_dep_stall").attr.config, 0xe5U);
}

/// A machine of files, with PMUs whose events start at bit 0 of config.
class MachineOfFiles : public testing::Test {
  protected:
    void write(const std::string& file, std::string_view text) const {
        std::filesystem::create_directories((root_ / file).parent_path());
        std::ofstream{root_ / file} << text << '\n';
    }
    void add_pmu(const std::string& name, int type) const {
        const std::string directory = "sys/bus/event_source/devices/" + name;
        write(directory + "/type", std::to_string(type));
        write(directory + "/cpumask", "0");
        write(directory + "/format/event", "config:0-7");
    }
    Machine read() const { return Machine::read(root_); }

  private:
    const std::filesystem::path root_ =
        std::filesystem::path{testing::TempDir()} / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MachineOfFiles, HasTheEventsOfAPmuWithTheIdentifierOfTheList) {
    add_pmu("imx8_ddr0", 9);
    add_pmu("imx8_ddr1", 10);
    write("sys/bus/event_source/devices/imx8_ddr0/identifier", "i.MX8MM");
    write("sys/bus/event_source/devices/imx8_ddr1/identifier", "i.MX8MP");
    EXPECT_EQ(event_of(read(), "imx8mm_ddr.read").pmu, "imx8_ddr0");
    EXPECT_EQ(event_of(read(), "imx8mm_ddr.read").attr.config, 0x35U);
    EXPECT_EQ(event_of(read(), "imx8_ddr1/imx8mp_ddr.read/").attr.type, 10U);
    EXPECT_THAT(error_of(read(), "imx8mq_ddr.read").cause, HasSubstr("no event is called"));
}

TEST_F(MachineOfFiles, HasTheListOfItsCpu) {
    write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xd01");
    add_pmu("hisi_sccl1_ddrc0", 9);
    add_pmu("hisi_sccl3_ddrc2", 10);
    EXPECT_THAT(names_of(read(), "flux_rd"),
                testing::ElementsAre("hisi_sccl1_ddrc0/flux_rd/", "hisi_sccl3_ddrc2/flux_rd/"));
    write("proc/cpuinfo",
          "processor\t: 0\nmvendorid\t: 0x489\nmarchid\t: 0x8000000000000007\nmimpid\t: 0x20181004\n"
          "isa\t: rv64imafdc");
    EXPECT_EQ(event_of(read(), "addressgen_interlock").attr.config, 0x101U);
}

TEST(VendorLists, OfOtherArchitecturesAreFoundByPerfsIdentifier) {
    const auto list = [](const char* id) {
        const vendor::ListRow* found = vendor::list_of_id(id);
        return found == nullptr ? std::string{} : std::string{vendor::text(found->name)};
    };
    EXPECT_EQ(list("0x00000000410fd0c0"), "arm/neoverse-n1");
    EXPECT_EQ(list("0x004e0202"), "power9");
    EXPECT_EQ(list("IBM,2964,400,N96,3.5,002f"), "cf_z13");
    EXPECT_EQ(list("0x489-0x8000000000000007-0x20181004"), "sifive/bullet");
    EXPECT_EQ(list("0x00000000410fd0c0 and more"), "");
}

TEST(UncoreNames, WithoutAKnownFieldAreRefused) {
    const Error error = error_of(cpu("arrowlake"), "lbr_inserts.any");
    EXPECT_THAT(error.cause, HasSubstr("'event' is not one of its fields"));
}

// Rows of pmu_uncore_alias_match() of perf's sources.
TEST(NamesOfPmus, WithNumbersAreInstancesOfTheListsPmu) {
    EXPECT_TRUE(is_instance_of("uncore_imc", "uncore_imc"));
    EXPECT_TRUE(is_instance_of("uncore_imc_12", "uncore_imc"));
    EXPECT_TRUE(is_instance_of("uncore_cbox3", "uncore_cbox"));
    EXPECT_TRUE(is_instance_of("arm_cmn_5ff000", "arm_cmn"));
    EXPECT_TRUE(is_instance_of("hisi_sccl1_ddrc0", "hisi_sccl,ddrc"));
    EXPECT_FALSE(is_instance_of("uncore_imc_free_running_0", "uncore_imc"));
    EXPECT_FALSE(is_instance_of("uncore_imc_ab", "uncore_imc")) << "too short for an address";
    EXPECT_FALSE(is_instance_of("uncore_imc_", "uncore_imc"));
    EXPECT_FALSE(is_instance_of("hisi_sccl1_l3c0", "hisi_sccl,ddrc"));
    EXPECT_FALSE(is_instance_of("hisi_ddrc0", "hisi_sccl,ddrc"));
}

}  // namespace
}  // namespace anyperf::events
