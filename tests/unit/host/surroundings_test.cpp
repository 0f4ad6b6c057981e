// surroundings_test.cpp: containers, hypervisors and kernel options, told from files.
#include <gtest/gtest.h>

#include "host/container.h"
#include "host/cpu_counters.h"
#include "host/hypervisor.h"
#include "host/kernel_config.h"
#include "host/process_limits.h"
#include "support/machine_files.h"

namespace anyperf::host {
namespace {

struct Sign {
    const char* file;
    const char* text;
    const char* kind;
};

TEST(Container, IsToldFromItsSigns) {
    for (const Sign& sign :
         {Sign{"/.dockerenv", "", "docker"}, Sign{"/run/.containerenv", "engine=\"podman-4.3.1\"", "podman"},
          Sign{"/proc/self/cgroup", "0::/kubepods.slice/pod1", "kubernetes"},
          Sign{"/proc/self/cgroup", "0::/docker/0123abc", "docker"}, Sign{"/run/systemd/container", "lxc", "lxc"},
          Sign{"/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2", "wsl"}}) {
        MachineFiles files;
        const Container found = container(files.file(sign.file, sign.text).root());
        ASSERT_TRUE(found) << sign.file;
        EXPECT_EQ(found.kind->id, sign.kind);
        EXPECT_NE(found.evidence.find(sign.file), std::string::npos) << found.evidence;
    }
}

TEST(Container, IsNotSeenWhereThereIsNoSign) {
    MachineFiles files;
    EXPECT_FALSE(container(files.file("/proc/self/cgroup", "0::/init.scope").root()));
}

TEST(OwnNamespaces, AreThoseThatTheKernelDidNotStartWith) {
    MachineFiles files;
    files.link("/proc/self/ns/pid", "pid:[4026532300]").link("/proc/self/ns/user", "user:[4026531837]");
    EXPECT_EQ(own_namespaces(files.root()), "pid");
}

constexpr std::string_view kGuest = "processor\t: 0\nflags\t\t: fpu sse hypervisor lm\n";
constexpr std::string_view kMetal = "processor\t: 0\nflags\t\t: fpu sse arch_perfmon lm\n";

TEST(Hypervisor, IsToldFromDmi) {
    for (const Sign& sign :
         {Sign{"/sys/class/dmi/id/sys_vendor", "Amazon EC2", "aws"},
          Sign{"/sys/class/dmi/id/product_name", "Google Compute Engine", "gcp"},
          Sign{"/sys/class/dmi/id/sys_vendor", "VMware, Inc.", "vmware"},
          Sign{"/sys/class/dmi/id/sys_vendor", "QEMU", "kvm"}, Sign{"/sys/hypervisor/type", "xen", "xen"}}) {
        MachineFiles files;
        const Hypervisor found = hypervisor(files.file("/proc/cpuinfo", kGuest).file(sign.file, sign.text).root());
        ASSERT_TRUE(found.present) << sign.text;
        ASSERT_NE(found.kind, nullptr) << sign.text;
        EXPECT_EQ(found.kind->id, sign.kind);
    }
}

TEST(Hypervisor, OfAMachineWithoutDmiIsNotTakenForQemu) {
    const Root here;
    const Hypervisor found = hypervisor(here);
    if (here.exists("/sys/class/dmi/id")) GTEST_SKIP() << "this machine has DMI tables";
    EXPECT_TRUE(found.kind == nullptr || found.kind->id != "kvm") << found.name();
}

TEST(Hypervisor, OfAnUnknownMakerHasNoKind) {
    MachineFiles files;
    const Hypervisor found = hypervisor(files.file("/proc/cpuinfo", kGuest).root());
    EXPECT_TRUE(found.present);
    EXPECT_EQ(found.name(), "an unknown hypervisor");
}

TEST(Hypervisor, IsNotSeenOnBareMetalOfTheSameMaker) {
    MachineFiles files;
    files.file("/proc/cpuinfo", kMetal).file("/sys/class/dmi/id/sys_vendor", "Amazon EC2");
    EXPECT_FALSE(hypervisor(files.root()).present);
}

TEST(CpuCounters, AreToldFromFlagsOfAnotherMachine) {
    MachineFiles guest, metal;
    EXPECT_FALSE(cpu_counters(guest.file("/proc/cpuinfo", kGuest).root()).present);
    EXPECT_TRUE(cpu_counters(metal.file("/proc/cpuinfo", kMetal).root()).present);
}

TEST(KernelConfig, IsReadFromBootToo) {
    MachineFiles files;
    files.file("/proc/sys/kernel/osrelease", "6.1.0-9-amd64")
        .file("/boot/config-6.1.0-9-amd64", "CONFIG_PERF_EVENTS=y\n# CONFIG_KPROBES is not set\nCONFIG_MSR=m");
    const KernelConfig config = kernel_config(files.root());
    EXPECT_EQ(config.source, "/boot/config-6.1.0-9-amd64");
    EXPECT_TRUE(config.has("CONFIG_PERF_EVENTS"));
    EXPECT_TRUE(config.has("CONFIG_MSR"));
    EXPECT_FALSE(config.has("CONFIG_KPROBES"));
}

TEST(ProcessLimit, ReadsSoftAndHard) {
    MachineFiles files;
    files.file("/proc/self/limits", "Max open files            1024                 unlimited            files     ");
    const auto limit = process_limit(files.root(), "Max open files");
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->soft, 1024);
    EXPECT_EQ(limit->hard, kUnlimited);
}

}  // namespace
}  // namespace anyperf::host
