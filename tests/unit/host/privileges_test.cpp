// privileges_test.cpp: what a process may measure, from its files in /proc, and how it can gain more rights.
#include "host/process/privileges.h"

#include <gtest/gtest.h>

#include "host/process/container.h"
#include "host/process/gain_rights.h"
#include "support/machine_files.h"

namespace anyperf::host {
namespace {

constexpr std::string_view kOrdinaryUser =
    "Name:\tcat\nState:\tR (running)\nUid:\t1000\t1000\t1000\t1000\nCapPrm:\t0000000000000000\n"
    "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nSeccomp:\t0";
constexpr std::string_view kPerfmon =
    "Name:\tcat\nUid:\t1000\t1000\t1000\t1000\nCapPrm:\t0000004000000000\n"
    "CapEff:\t0000004000000000\nCapBnd:\t000001ffffffffff";
constexpr std::string_view kContainerRoot =
    "Name:\tcat\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nCapBnd:\t00000000a80425fb";

MachineFiles& with_paranoid_level(MachineFiles& files, std::string_view status, std::string_view level) {
    return files.file("/proc/self/status", status).file("/proc/sys/kernel/perf_event_paranoid", level);
}

TEST(Privileges, OfAnOrdinaryUserDependOnTheParanoidLevel) {
    struct Row {
        const char* level;
        bool kernel, cpus, data;
    };
    for (const Row& row : {Row{"3", false, false, false}, Row{"2", false, false, false}, Row{"1", true, false, false},
                           Row{"0", true, true, false}, Row{"-1", true, true, true}}) {
        MachineFiles files;
        const Privileges found = privileges(with_paranoid_level(files, kOrdinaryUser, row.level).root());
        EXPECT_EQ(found.may_measure_kernel(), row.kernel) << row.level;
        EXPECT_EQ(found.may_measure_cpus(), row.cpus) << row.level;
        EXPECT_EQ(found.may_read_tracepoint_data(), row.data) << row.level;
    }
}

TEST(Privileges, WithCapPerfmonDoNotDependOnTheParanoidLevel) {
    MachineFiles files;
    const Privileges found = privileges(with_paranoid_level(files, kPerfmon, "4").root());
    EXPECT_TRUE(found.has_perfmon());
    EXPECT_TRUE(found.may_read_tracepoint_data());
    EXPECT_EQ(describe(found), "uid 1000 with CAP_PERFMON");
}

TEST(Privileges, FromAUserNamespaceAreIgnored) {
    MachineFiles files;
    with_paranoid_level(files, kPerfmon, "2").link("/proc/self/ns/user", "user:[4026532177]");
    const Privileges found = privileges(files.root());
    EXPECT_FALSE(found.has_perfmon());
    EXPECT_EQ(describe(found), "uid 1000 with capabilities that count in its user namespace only");
}

TEST(Privileges, UseTheUidMapIfTheNamespaceCannotBeRead) {
    MachineFiles initial, other;
    initial.file("/proc/self/uid_map", "         0          0 4294967295");
    other.file("/proc/self/uid_map", "         0     100000      65536");
    EXPECT_TRUE(privileges(initial.root()).initial_user_namespace);
    EXPECT_FALSE(privileges(other.root()).initial_user_namespace);
}

TEST(HowToGainRights, NamesTheCapabilityThatTheKernelKnows) {
    MachineFiles files;
    with_paranoid_level(files, kOrdinaryUser, "2").file("/proc/sys/kernel/cap_last_cap", "37");
    const std::string fix = how_to_gain_rights(privileges(files.root()), Container{}, 1);
    EXPECT_EQ(fix,
              "as root: sysctl kernel.perf_event_paranoid=1; or run with CAP_SYS_ADMIN (sudo, or once: setcap "
              "cap_sys_admin+ep on the program that measures)");
}

TEST(HowToGainRights, WithNoNewPrivsDoesNotSuggestSudo) {
    MachineFiles files;
    with_paranoid_level(files, std::string{kOrdinaryUser} + "\nNoNewPrivs:\t1", "2");
    const std::string fix = how_to_gain_rights(privileges(files.root()), Container{}, 1);
    EXPECT_TRUE(
        fix.starts_with("as root: sysctl kernel.perf_event_paranoid=1; or start this process without no_new_privs"))
        << fix;
    EXPECT_EQ(fix.find("setcap cap"), fix.npos) << fix;
}

TEST(HowToGainRights, InAContainerWithoutTheCapabilityStartsAtTheHost) {
    MachineFiles files;
    with_paranoid_level(files, kContainerRoot, "2").file("/.dockerenv", "");
    const std::string fix = how_to_gain_rights(privileges(files.root()), container(files.root()), 1);
    EXPECT_TRUE(fix.starts_with("on the host, as root: sysctl")) << fix;
    EXPECT_NE(fix.find("--cap-add=PERFMON"), fix.npos) << fix;
}

}  // namespace
}  // namespace anyperf::host
