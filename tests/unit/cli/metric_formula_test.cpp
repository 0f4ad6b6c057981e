// metric_formula_test.cpp: metrics of perf's lists, with the events and facts of a machine.
#include "cli/metrics/metric_formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/metrics/literals.h"
#include "unit/events/machines.h"

namespace anyperf::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MetricSource source_of(const char* list, bool in_user_space) {
    return {*vendor::list_called(list), events::Machine::of_cpu(list).value(), {host::Root{"/"}, in_user_space, false}};
}

MetricFormula metric(const MetricSource& source, std::string_view name) {
    return MetricFormula::resolve(source, *vendor::find_metric(*source.list, name));
}

Counts all_are(double value) {
    return {.of = [value](const std::string&) { return value; }, .sources = [](const std::string&) { return 1.0; }};
}

TEST(MetricFormula, NamesTheEventsOfTheMetricsInIt) {
    EXPECT_THAT(metric(source_of("skylake", false), "tma_info_thread_ipc").events,
                ElementsAre("INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD"));
}

TEST(MetricFormula, IsComputedInItsUnit) {
    const auto source = source_of("skylake", false);
    const auto ipc = metric(source, "tma_info_thread_ipc");
    const Counts counts{.of = [](const std::string& event) { return event == "INST_RETIRED.ANY" ? 600.0 : 400.0; },
                        .sources = [](const std::string&) { return 1.0; }};
    EXPECT_DOUBLE_EQ(ipc.value(counts), 1.5);
    EXPECT_EQ(ipc.unit, "");
    // 100% of LD_BLOCKS_PARTIAL.ADDRESS_ALIAS / tma_info_thread_clks
    const auto aliasing = metric(source, "tma_4k_aliasing");
    EXPECT_DOUBLE_EQ(aliasing.value(all_are(10)), 100);
    EXPECT_EQ(aliasing.unit, "%");
}

TEST(MetricFormula, HasEventsOfPmusOutsideOfTheCores) {
    const auto* list = vendor::list_called("skylakex");
    const std::string root = ANYPERF_SOURCE_DIR "/tests/fixtures/machines/intel-skylake-server";
    const MetricSource server{*list, events::Machine::read(root), {host::Root{root}, false, true}};
    const auto bandwidth = metric(server, "memory_bandwidth_read");
    EXPECT_FALSE(bandwidth.missing.has_value());
    EXPECT_THAT(bandwidth.events, ElementsAre("UNC_M_CAS_COUNT.RD", "duration_time"));
    EXPECT_DOUBLE_EQ(bandwidth.value(all_are(2)), 2 * 64 / 1e6 / 2);
    EXPECT_EQ(bandwidth.unit, "MB/s");
    const MetricSource none{*list, events::machine("vm-without-pmu"), {host::Root{root}, false, true}};
    EXPECT_EQ(metric(none, "memory_bandwidth_read").missing.value().name, "UNC_M_CAS_COUNT.RD");
}

TEST(MetricFormula, OfAnArmCpuHasTheEventsOfItsList) {
    const auto misses = metric(source_of("arm/neoverse-n1", false), "branch_mpki");
    EXPECT_FALSE(misses.missing.has_value());
    EXPECT_THAT(misses.events, ElementsAre("BR_MIS_PRED_RETIRED", "INST_RETIRED"));
    EXPECT_DOUBLE_EQ(misses.value(all_are(10)), 1000);
}

TEST(MetricFormula, IsNotANumberWithoutACount) {
    EXPECT_TRUE(std::isnan(metric(source_of("skylake", false), "tma_info_thread_ipc").value(all_are(0))));
    EXPECT_TRUE(std::isnan(metric(source_of("skylake", false), "tma_info_thread_ipc").value(all_are(std::nan("")))));
}

TEST(MetricFormula, LacksTheFirstEventThatTheMachineDoesNotHave) {
    const auto metric_without = metric(source_of("skylake", false), "C2_Pkg_Residency");
    ASSERT_TRUE(metric_without.missing.has_value());
    EXPECT_EQ(metric_without.missing->name, "cstate_pkg/c2-residency/");
    EXPECT_THAT(metric_without.missing->why, HasSubstr("this machine has no event called cstate_pkg/c2-residency/"));
}

TEST(MetricFormula, OfTheVirtualPmuLacksWhatTheVirtualPmuDoesNotCount) {
    const auto source = source_of("skylake", true);
    EXPECT_FALSE(metric(source, "tma_info_thread_ipc").missing.has_value());
    EXPECT_THAT(metric(source, "tma_ports_utilized_0").missing.value().why,
                HasSubstr("the virtual PMU has no model of"));
    EXPECT_THAT(metric(source, "tma_info_system_kernel_cpi").missing.value().why, HasSubstr("user mode only"));
}

TEST(MetricFormula, OfEveryListIsComputed) {
    for (const vendor::ListRow& list : vendor::lists()) {
        const auto names = events::Machine::of_cpu(vendor::text(list.name));
        ASSERT_TRUE(names.has_value()) << vendor::text(list.name);
        const MetricSource source{list, *names, {host::Root{"/"}, false, false}};
        for (const vendor::MetricRow& row : vendor::metrics(list)) {
            const auto formula = MetricFormula::resolve(source, row);
            EXPECT_FALSE(formula.events.empty()) << formula.name;
            formula.value(all_are(3));  // ends, although metrics refer to each other
        }
    }
}

TEST(MetricSources, AreTheSkylakeThatTheVirtualPmuIs) {
    const auto machine = events::machine("amd-zen");
    const auto in_user_space = metric_sources(machine, true, false);
    ASSERT_EQ(in_user_space.size(), 1U) << "the codes of another CPU's events would count something else";
    EXPECT_THAT(vendor::text(in_user_space.front().list->name), testing::StartsWith("skylake"));
    const auto by_kernel = metric_sources(machine, false, false);
    ASSERT_EQ(by_kernel.size(), 1U);
    EXPECT_THAT(vendor::text(by_kernel.front().list->name), testing::StartsWith("amdzen"));
}

/// A machine with two sockets of two cores, made of files.
class Literal : public testing::Test {
  protected:
    Literal() {
        write("online", "0-3");
        write("present", "0-3");
        write("smt/active", "0");
        for (int cpu = 0; cpu < 4; ++cpu) {
            const std::string topology = "cpu" + std::to_string(cpu) + "/topology/";
            write(topology + "physical_package_id", std::to_string(cpu / 2));
            write(topology + "die_id", "0");
            write(topology + "core_id", std::to_string(cpu % 2));
        }
    }
    ~Literal() override { std::filesystem::remove_all(root_); }
    void write(const std::string& file, const std::string& text) {
        const auto path = root_ / "sys/devices/system/cpu" / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path} << text << '\n';
    }
    double value(std::string_view name, bool system_wide = false) {
        return literal_value(host::Root{root_}, name, system_wide);
    }

    std::filesystem::path root_ =
        std::filesystem::path{testing::TempDir()} / ("anyperf_literals." + std::to_string(getpid()));
};

TEST_F(Literal, CountsThePartsOfTheMachine) {
    EXPECT_EQ(value("#num_cpus"), 4);
    EXPECT_EQ(value("#num_cpus_online"), 4);
    EXPECT_EQ(value("#num_cores"), 4);
    EXPECT_EQ(value("#num_dies"), 2);
    EXPECT_EQ(value("#num_packages"), 2);
    EXPECT_EQ(value("#smt_on"), 0);
}

TEST_F(Literal, SmtIsOnIfACoreHasSeveralThreads) {
    std::filesystem::remove(root_ / "sys/devices/system/cpu/smt/active");
    write("cpu0/topology/thread_siblings_list", "0-1");
    EXPECT_EQ(value("#smt_on"), 1);
}

TEST_F(Literal, CoreWideIsTrueOfSystemWideCountsOnly) {
    EXPECT_EQ(value("#core_wide"), 0);
    EXPECT_EQ(value("#core_wide", true), 1);
}

TEST_F(Literal, FrequencyOfTheTscIsInTheNameOfTheCpu) {
    EXPECT_TRUE(std::isnan(value("#system_tsc_freq")));
    write("../../../../proc/cpuinfo", "processor : 0\nmodel name : A CPU @ 2.20GHz\nflags : fpu");
    EXPECT_EQ(value("#system_tsc_freq"), 2.2e9);
}

TEST_F(Literal, SlotsAreThoseOfTheArmCores) {
    EXPECT_TRUE(std::isnan(value("#slots")));
    write("../../../bus/event_source/devices/armv8_pmuv3_0/caps/slots", "0x00000008");
    EXPECT_EQ(value("#slots"), 8);
}

// The metrics of Neoverse N2 differ from r0p3 on.
TEST_F(Literal, CpuIsComparedWithItsVersion) {
    const auto is_r0p3 = [&](const char* midr) {
        write("cpu0/regs/identification/midr_el1", midr);
        return value("#strcmp_cpuid_str(0x410fd493)");
    };
    EXPECT_TRUE(std::isnan(value("#strcmp_cpuid_str(0x410fd493)")));
    EXPECT_EQ(is_r0p3("0x00000000410fd493"), 1);
    EXPECT_EQ(is_r0p3("0x00000000411fd490"), 1) << "r1p0 is later";
    EXPECT_EQ(is_r0p3("0x00000000410fd490"), 0);
    EXPECT_EQ(is_r0p3("0x00000000410fd4f3"), 0) << "a Neoverse V2";
}

TEST_F(Literal, ThatIsAbsentIsNotANumber) {
    EXPECT_TRUE(std::isnan(value("#no_such_literal")));
    std::filesystem::remove_all(root_);
    EXPECT_TRUE(std::isnan(value("#num_packages")));
    EXPECT_EQ(value("#smt_on"), 0);
}

}  // namespace
}  // namespace anyperf::cli
