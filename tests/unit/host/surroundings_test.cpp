// surroundings_test.cpp: containers, hypervisors, kernel options and limits are recognized from files.
#include <gtest/gtest.h>

#include "host/hardware/cpu_counters.h"
#include "host/hardware/hypervisor.h"
#include "host/kernel/kernel_config.h"
#include "host/process/container.h"
#include "host/process/process_limits.h"
#include "support/machine_files.h"

namespace anyperf::host {
namespace {

struct Evidence {
    const char* file;
    const char* text;
    const char* kind;
};

TEST(Container, IsRecognizedByItsFiles) {
    for (const Evidence& evidence :
         {Evidence{"/.dockerenv", "", "docker"}, Evidence{"/run/.containerenv", "engine=\"podman-4.3.1\"", "podman"},
          Evidence{"/proc/self/cgroup", "0::/kubepods.slice/pod1", "kubernetes"},
          Evidence{"/proc/self/cgroup", "0::/docker/0123abc", "docker"},
          Evidence{"/run/systemd/container", "lxc", "lxc"},
          Evidence{"/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2", "wsl"}}) {
        MachineFiles files;
        const Container found = container(files.file(evidence.file, evidence.text).root());
        ASSERT_TRUE(found) << evidence.file;
        EXPECT_EQ(found.kind->id, evidence.kind);
        EXPECT_NE(found.evidence.find(evidence.file), std::string::npos) << found.evidence;
    }
}

TEST(Container, IsNotReportedWithoutEvidence) {
    MachineFiles files;
    EXPECT_FALSE(container(files.file("/proc/self/cgroup", "0::/init.scope").root()));
}

TEST(OwnNamespaces, AreThoseThatAreNotTheInitialOnes) {
    MachineFiles files;
    files.link("/proc/self/ns/pid", "pid:[4026532300]").link("/proc/self/ns/user", "user:[4026531837]");
    EXPECT_EQ(own_namespaces(files.root()), "pid");
}

constexpr std::string_view kGuest = "processor\t: 0\nflags\t\t: fpu sse hypervisor lm\n";
constexpr std::string_view kMetal = "processor\t: 0\nflags\t\t: fpu sse arch_perfmon lm\n";

TEST(Hypervisor, IsRecognizedFromSysfs) {
    for (const Evidence& evidence :
         {Evidence{"/sys/class/dmi/id/sys_vendor", "Amazon EC2", "aws"},
          Evidence{"/sys/class/dmi/id/product_name", "Google Compute Engine", "gcp"},
          Evidence{"/sys/class/dmi/id/sys_vendor", "VMware, Inc.", "vmware"},
          Evidence{"/sys/class/dmi/id/sys_vendor", "QEMU", "kvm"}, Evidence{"/sys/hypervisor/type", "xen", "xen"}}) {
        MachineFiles files;
        const Hypervisor found =
            hypervisor(files.file("/proc/cpuinfo", kGuest).file(evidence.file, evidence.text).root());
        ASSERT_TRUE(found.present) << evidence.text;
        ASSERT_NE(found.kind, nullptr) << evidence.text;
        EXPECT_EQ(found.kind->id, evidence.kind);
    }
}

TEST(Hypervisor, IsNotMistakenForQemuWithoutDmi) {
    const Root here;
    const Hypervisor found = hypervisor(here);
    if (here.exists("/sys/class/dmi/id")) GTEST_SKIP() << "this machine has DMI tables";
    EXPECT_TRUE(found.kind == nullptr || found.kind->id != "kvm") << found.name();
}

TEST(Hypervisor, OfAnUnknownVendorHasNoKind) {
    MachineFiles files;
    const Hypervisor found = hypervisor(files.file("/proc/cpuinfo", kGuest).root());
    EXPECT_TRUE(found.present);
    EXPECT_EQ(found.name(), "an unknown hypervisor");
}

TEST(Hypervisor, IsNotReportedOnBareMetalOfTheSameVendor) {
    MachineFiles files;
    files.file("/proc/cpuinfo", kMetal).file("/sys/class/dmi/id/sys_vendor", "Amazon EC2");
    EXPECT_FALSE(hypervisor(files.root()).present);
}

TEST(CpuCounters, OfAnotherMachineAreReadFromItsCpuFlags) {
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

TEST(ProcessLimit, HasSoftAndHardValues) {
    MachineFiles files;
    files.file("/proc/self/limits", "Max open files            1024                 unlimited            files     ");
    const auto limit = process_limit(files.root(), "Max open files");
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->soft, 1024);
    EXPECT_EQ(limit->hard, kUnlimited);
}

}  // namespace
}  // namespace anyperf::host
