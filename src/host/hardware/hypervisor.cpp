// hypervisor.cpp: signs of a hypervisor in files and in CPUID. Bit 31 of ECX in CPUID leaf 1 and leaf 0x40000000 are
// reserved for hypervisors (Intel SDM volume 2, CPUID; AMD APM volume 3, "Function 4000_0000h"). The leaf names the
// software (KVM), while DMI tables name the provider (AWS). The provider's fix is more specific, so DMI is read first.
#include "host/hardware/hypervisor.h"

#include <array>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace anyperf::host {

namespace {

constexpr std::string_view kGenericFix =
    "let the hypervisor expose a virtual PMU to this guest, or run on a machine (bare metal, a larger or dedicated "
    "instance) that has one";

constexpr std::array kKinds{
    HypervisorKind{"firecracker", "Firecracker", "",
                   "Firecracker offers its guests no PMU: use another hypervisor, or measure on the host"},
    HypervisorKind{"aws", "AWS Nitro", "", "use an instance type that has a PMU: a .metal or a full-socket size"},
    HypervisorKind{
        "gcp", "Google Compute Engine", "",
        "create the instance with --performance-monitoring-unit=standard on a machine series that offers it"},
    HypervisorKind{"azure", "Azure", "",
                   "use a VM size that exposes the PMU to guests (bare metal and isolated sizes)"},
    HypervisorKind{"kvm", "KVM", "KVMKVMKVM",
                   "on the host: QEMU -cpu host,pmu=on (libvirt: <cpu mode='host-passthrough'/> and <features><pmu "
                   "state='on'/></features>), and the parameter enable_pmu=Y of the kvm module"},
    HypervisorKind{
        "kvm-microvm", "KVM (a micro-VM: it has no DMI tables)", "",
        "Firecracker and other micro-VMs offer their guests no PMU: use another hypervisor, or measure on the "
        "host; QEMU's microvm has one with -cpu host,pmu=on"},
    HypervisorKind{"vmware", "VMware", "VMwareVMware",
                   "power the VM off and tick 'Virtualize CPU performance counters' (vpmc.enable = \"TRUE\")"},
    HypervisorKind{"hyperv", "Hyper-V", "Microsoft Hv",
                   "with the VM off, on the host: Set-VMProcessor -VMName NAME -Perfmon @(\"pmu\")"},
    HypervisorKind{"xen", "Xen", "XenVMMXenVMM", "boot the Xen hypervisor with vpmu=on"},
    HypervisorKind{"virtualbox", "VirtualBox", "VBoxVBoxVBox",
                   "VirtualBox offers its guests no PMU: use another hypervisor, or measure on the host"},
    HypervisorKind{"qemu", "QEMU without KVM", "TCGTCGTCGTCG",
                   "QEMU's emulation has no PMU for x86 guests: run QEMU with -accel kvm -cpu host,pmu=on"},
    HypervisorKind{"bhyve", "bhyve", "bhyve bhyve ", kGenericFix},
    HypervisorKind{"acrn", "ACRN", "ACRNACRNACRN", kGenericFix},
    HypervisorKind{"parallels", "Parallels", " lrpepyh  vr", kGenericFix},
};

const HypervisorKind* kind(std::string_view id) {
    for (const HypervisorKind& row : kKinds)
        if (row.id == id) return &row;
    return nullptr;
}

/// A file, a text in it, and the kind that it is a sign of. The most specific come first: EC2 is KVM, too.
struct Sign {
    std::string_view file;
    std::string_view text;
    std::string_view kind;
};

constexpr std::array kSigns{
    Sign{"/sys/class/dmi/id/sys_vendor", "Amazon EC2", "aws"},
    Sign{"/sys/class/dmi/id/product_name", "Google Compute Engine", "gcp"},
    Sign{"/sys/class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "azure"},
    Sign{"/sys/class/dmi/id/sys_vendor", "VMware", "vmware"},
    Sign{"/sys/class/dmi/id/sys_vendor", "innotek GmbH", "virtualbox"},
    Sign{"/sys/class/dmi/id/sys_vendor", "Microsoft Corporation", "hyperv"},
    Sign{"/sys/class/dmi/id/sys_vendor", "Parallels", "parallels"},
    Sign{"/sys/class/dmi/id/sys_vendor", "QEMU", "kvm"},
    Sign{"/sys/hypervisor/type", "xen", "xen"},
    Sign{"/sys/firmware/acpi/tables/FACP", "FIRECK",
         "firecracker"},  // the OEM id of the ACPI tables; readable by root only
};

void add_evidence(Hypervisor& found, const std::string& evidence) {
    if (!found.evidence.empty()) found.evidence += "; ";
    found.evidence += evidence;
}

bool holds(const Root& root, const Sign& sign) {
    const auto text = root.read(sign.file);
    return text && text->find(sign.text) != text->npos;
}

#if defined(__x86_64__)
/// The hypervisor's name in EBX, ECX and EDX.
std::string cpuid_signature() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __cpuid(0x40000000, eax, ebx, ecx, edx);
    std::array<char, 13> text{};
    std::memcpy(text.data(), &ebx, 4);
    std::memcpy(text.data() + 4, &ecx, 4);
    std::memcpy(text.data() + 8, &edx, 4);
    return text.data();
}

/// Adds what CPUID says. It sets the kind only if no file did: the provider's name is more specific.
void ask_cpuid(Hypervisor& found) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx >> 31) == 0) return;
    found.present = true;
    const std::string signature = cpuid_signature();
    add_evidence(found, "CPUID leaf 1 has the hypervisor bit, leaf 0x40000000 says '" + signature + "'");
    for (const HypervisorKind& row : kKinds)
        if (found.kind == nullptr && !row.signature.empty() && signature == row.signature) found.kind = &row;
}
#else
void ask_cpuid(Hypervisor&) {}
#endif

/// Distinguishes micro-VMs from other guests of KVM. Their ACPI tables may not be readable by this process, but a
/// micro-VM also has no DMI tables, which every process can see.
void recognise_micro_vm(Hypervisor& found, const Root& root) {
    if (found.kind == nullptr || found.kind->id != "kvm" || root.exists("/sys/class/dmi/id")) return;
    found.kind = kind("kvm-microvm");
    add_evidence(found, "/sys/class/dmi/id is not there");
}

/// Whether /proc/cpuinfo has the kernel's copy of the CPUID bit. A copy of another machine's files has it, too.
bool has_hypervisor_flag(const Root& root) {
    const auto cpuinfo = root.read("/proc/cpuinfo");
    return cpuinfo &&
           (cpuinfo->find(" hypervisor ") != cpuinfo->npos || cpuinfo->find(" hypervisor\n") != cpuinfo->npos);
}

}  // namespace

// All evidence is collected, for `explain`; the first sign decides the kind. The order is: the files of kSigns, the
// kernel's flag, CPUID, and last whether it is a micro-VM.
Hypervisor hypervisor(const Root& root) {
    Hypervisor found;
    const bool flagged = has_hypervisor_flag(root);
    for (const Sign& sign : kSigns) {
        if (found.kind != nullptr || !holds(root, sign)) continue;
        // On bare metal these names are those of the machine's maker or owner: a Microsoft laptop, an EC2 .metal
        // instance.
        if (!flagged && sign.kind != "xen" && root.exists("/proc/cpuinfo")) continue;
        found.present = true;
        found.kind = kind(sign.kind);
        add_evidence(found, std::string{sign.file} + " has '" + std::string{sign.text} + "'");
    }
    if (flagged) {
        found.present = true;
        add_evidence(found, "/proc/cpuinfo has the flag 'hypervisor'");
    }
    if (root.is_this_machine()) ask_cpuid(found);
    recognise_micro_vm(found, root);
    return found;
}

}  // namespace anyperf::host
