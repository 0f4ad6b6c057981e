// virtual_files_test.cpp: the virtual PMUs as files in sysfs and /proc, and as our own reader of sysfs finds them.
#include "pmu/virtual_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "anyperf/event_names.h"
#include "pmu/cpu/cpu_models.h"
#include "pmu/cpu/cpuinfo.h"

namespace anyperf::pmu {
namespace {

using ::testing::Contains;
using ::testing::Field;

std::string content(std::string_view path) {
    for (const VirtualFile& file : virtual_files().files)
        if (file.path == path) return file.content;
    return "no such file";
}

TEST(VirtualFiles, HaveTheTypeOfEachPmu) {
    EXPECT_EQ(content("/sys/devices/software/type"), "1\n");
    EXPECT_EQ(content("/sys/devices/tracepoint/type"), "2\n");
    EXPECT_EQ(content("/sys/devices/cpu/type"), "4\n");
    EXPECT_EQ(content("/sys/devices/breakpoint/type"), "5\n");
    EXPECT_GT(std::stoi(content("/sys/devices/uprobe/type")), 5);
}

TEST(VirtualFiles, HaveTheMuxIntervalOfEachPmu) {
    for (const char* pmu : {"breakpoint", "cpu", "software", "tracepoint", "uprobe"})
        EXPECT_EQ(content("/sys/devices/" + std::string{pmu} + "/perf_event_mux_interval_ms"), "4\n") << pmu;
}

TEST(VirtualFiles, ArePresentUnderBothPaths) {
    EXPECT_THAT(virtual_files().links, Contains(Field(&VirtualLink::path, "/sys/bus/event_source/devices/cpu")));
    EXPECT_THAT(virtual_files().links, Contains(Field(&VirtualLink::path, "/sys/devices/cpu/subsystem")));
}

TEST(VirtualFiles, DescribeTheFormatOfTheCpusEvents) {
    EXPECT_EQ(content("/sys/devices/cpu/format/event"), "config:0-7\n");
    EXPECT_EQ(content("/sys/devices/cpu/format/cmask"), "config:24-31\n");
    EXPECT_EQ(content("/sys/devices/uprobe/format/retprobe"), "config:0\n");
    EXPECT_EQ(content("/sys/devices/uprobe/format/ref_ctr_offset"), "config:32-63\n");
}

TEST(VirtualFiles, NameTheEventsThatCount) {
    EXPECT_EQ(content("/sys/devices/cpu/events/cpu-cycles"), "event=0x3c\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/instructions"), "event=0xc0\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/ref-cycles"), "event=0x00,umask=0x03\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/mem-stores"), "event=0xd0,umask=0x82\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/mem-loads"), "event=0xcd,umask=0x01,ldlat=3\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/cache-misses"), "event=0x2e,umask=0x41\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/stalled-cycles-backend"), "event=0xa2,umask=0x01\n");
    EXPECT_EQ(content("/sys/devices/cpu/events/stalled-cycles-frontend"), "event=0x9c,umask=0x01,cmask=4\n");
}

TEST(VirtualFiles, ListCapabilities) {
    EXPECT_EQ(content("/sys/devices/cpu/caps/max_precise"), "3\n");
    EXPECT_EQ(content("/sys/devices/cpu/caps/pmu_name"), "skylake\n");
}

TEST(VirtualFiles, NameTheMachineWhoseCachesAreModelled) {
    EXPECT_EQ(content("/sys/devices/cpu/caps/modelled_machine"), "no such file");
    EXPECT_THAT(virtual_files({.sysctls = {}, .modelled_machine = "zen4"}).files,
                Contains(AllOf(Field(&VirtualFile::path, "/sys/devices/cpu/caps/modelled_machine"),
                               Field(&VirtualFile::content, "zen4\n"))));
}

TEST(VirtualFiles, ListBranchStacksIfThereAreAny) {
    EXPECT_EQ(content("/sys/devices/cpu/caps/branches"), "no such file");
    EXPECT_THAT(virtual_files({.sysctls = {}, .modelled_machine = {}, .branch_entries = 32}).files,
                Contains(Field(&VirtualFile::path, "/sys/devices/cpu/caps/branches")));
}

TEST(VirtualFiles, HaveTheKernelsDefaults) {
    EXPECT_EQ(content("/proc/sys/kernel/perf_event_paranoid"), "2\n");
    EXPECT_EQ(content("/proc/sys/kernel/perf_event_max_sample_rate"), "100000\n");
    EXPECT_EQ(content("/proc/sys/kernel/perf_event_max_stack"), "127\n");
    EXPECT_EQ(content("/proc/sys/kernel/perf_event_max_contexts_per_stack"), "8\n");
    EXPECT_EQ(content("/proc/sys/kernel/perf_event_mlock_kb"), "516\n");
    EXPECT_EQ(content("/proc/sys/kernel/perf_cpu_time_max_percent"), "25\n");
}

TEST(VirtualFiles, HaveUniquePaths) {
    std::set<std::string> paths;
    for (const VirtualFile& file : virtual_files().files) EXPECT_TRUE(paths.insert(file.path).second) << file.path;
}

class PresentedCpu : public ::testing::TestWithParam<CpuModelRow> {};

TEST_P(PresentedCpu, HasTheEventNamesOfItsModel) {
    const CpuModelRow& row = GetParam();
    const auto root = std::filesystem::temp_directory_path() / ("anyperf-virtual-" + std::to_string(::getpid()));
    const auto put = [&root](const std::string& path, const std::string& text) {
        const auto file = root / path.substr(1);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text;
    };
    for (const VirtualFile& file : virtual_files().files) put(file.path, file.content);
    std::filesystem::create_directories(root / "sys/bus/event_source/devices");
    for (const VirtualLink& link : virtual_files().links)
        std::filesystem::create_directory_symlink(link.target, root / link.path.substr(1));
    put("/proc/cpuinfo", virtual_cpuinfo("processor\t: 0\nvendor_id\t: x\ncpu family\t: 1\nmodel\t\t: 1\n"
                                         "model name\t: x\nstepping\t: 1\nflags\t\t: fpu\n\n",
                                         *row.identity, false));
    const auto names = events::EventNames::read(root);
    const auto encoded = names.encode("INST_RETIRED:ANY_P");
    std::filesystem::remove_all(root);
    ASSERT_TRUE(encoded) << encoded.error().cause;
    EXPECT_EQ(encoded->pmu, row.identity->model == kSkylakeServer.model ? "skx" : "skl");
    EXPECT_TRUE(encoded->active);
    EXPECT_EQ(encoded->attr.type, 4u);
}

constexpr bool has_identity(const CpuModelRow& row) {
    return row.identity != nullptr;
}

INSTANTIATE_TEST_SUITE_P(CpuModels, PresentedCpu, ::testing::ValuesIn([] {
                             std::vector<CpuModelRow> rows;
                             std::ranges::copy_if(kCpuModels, std::back_inserter(rows), has_identity);
                             return rows;
                         }()),
                         [](const auto& shown) {
                             std::string name{shown.param.name};
                             std::ranges::replace(name, '-', '_');  // gtest takes no hyphens
                             return name;
                         });

}  // namespace
}  // namespace anyperf::pmu
