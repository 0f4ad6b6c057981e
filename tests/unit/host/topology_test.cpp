// topology_test.cpp: where a CPU is, and which cgroups there are, read from the files of a machine.
#include "host/hardware/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/process/cgroups.h"
#include "support/machine_files.h"

namespace anyperf::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kCpu = "/sys/devices/system/cpu/cpu3";

TEST(Topology, IsReadFromSysfs) {
    MachineFiles files;
    files.file(kCpu + "/topology/physical_package_id", "1").file(kCpu + "/topology/die_id", "2");
    files.file(kCpu + "/topology/core_id", "7").file(kCpu + "/node4/x", "").file(kCpu + "/nodes/x", "");
    const auto position = position_of(files.root(), 3);
    EXPECT_EQ(position.socket, 1);
    EXPECT_EQ(position.die, 2);
    EXPECT_EQ(position.core, 7);
    EXPECT_EQ(position.node, 4);
}

TEST(Topology, HasDie0WhereTheKernelKnowsNoDies) {
    MachineFiles files;
    files.file(kCpu + "/topology/physical_package_id", "0");
    EXPECT_EQ(position_of(files.root(), 3).die, 0);
}

TEST(Topology, HasNoNumbersThatSysfsDoesNotHave) {
    MachineFiles files;
    files.file(kCpu + "/topology/core_id", "seven");
    const auto position = position_of(files.root(), 3);
    EXPECT_FALSE(position.socket);
    EXPECT_FALSE(position.die);
    EXPECT_FALSE(position.core);
    EXPECT_FALSE(position.node);
}

TEST(Cgroups, AreFoundByARegularExpression) {
    MachineFiles files;
    files.file("/proc/self/mounts", "none /cg cgroup2 rw 0 0").file("/cg/cgroup.procs", "");
    for (const char* name : {"web-1", "web-1/worker", "web-2", "db"})
        files.file("/cg/" + std::string{name} + "/cgroup.procs", "");
    files.file("/cg/web-3/no-cgroup", "");
    EXPECT_THAT(matching_cgroups(files.root(), "^web-.$").value(), ElementsAre("web-1", "web-2"));
    EXPECT_THAT(matching_cgroups(files.root(), "web").value(), ElementsAre("web-1", "web-1/worker", "web-2"));
    EXPECT_THAT(matching_cgroups(files.root(), "^/$").value(), ElementsAre("/"));
    EXPECT_THAT(matching_cgroups(files.root(), "\\(").error().cause, HasSubstr("regular expression"));
}

TEST(Cgroups, AnEmptyNameIsNotTheTop) {
    MachineFiles files;
    files.file("/proc/self/mounts", "none /cg cgroup2 rw 0 0").file("/cg/cgroup.procs", "");
    EXPECT_EQ(cgroup_directory(files.root(), "/").value(), "/cg");
    EXPECT_THAT(cgroup_directory(files.root(), "").error().cause, HasSubstr("empty"));
}

}  // namespace
}  // namespace anyperf::host
