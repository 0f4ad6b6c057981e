// hypervisor.h: the hypervisor below this machine, and how its owner gives a guest a PMU.
#pragma once

#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

struct HypervisorKind {
    std::string_view id;         ///< "kvm"
    std::string_view name;       ///< "KVM"
    std::string_view signature;  ///< twelve bytes of CPUID leaf 0x40000000, "" where there is none of its own
    std::string_view expose_pmu;
};

struct Hypervisor {
    bool present = false;
    const HypervisorKind* kind = nullptr;  ///< null: there is one, but nothing tells which
    std::string evidence;                  ///< the files and CPUID leaves that tell, with what they say

    std::string_view name() const { return kind != nullptr ? kind->name : "an unknown hypervisor"; }
};

/// From /proc/cpuinfo, DMI and /sys/hypervisor; on this machine also from CPUID.
Hypervisor hypervisor(const Root& root);

}  // namespace anyperf::host
