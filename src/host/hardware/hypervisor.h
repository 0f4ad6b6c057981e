// hypervisor.h: recognises the hypervisor that this machine is a guest of, and knows how to give a guest of it a PMU.
// Most machines without hardware counters are guests, so no other fix helps as many users.
#pragma once

#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// A hypervisor, or a cloud provider whose instances are configured in their own way.
struct HypervisorKind {
    std::string_view id;          ///< "kvm"
    std::string_view name;        ///< "KVM"
    std::string_view signature;   ///< the twelve bytes of CPUID leaf 0x40000000; "" if it has none of its own
    std::string_view expose_pmu;  ///< how to give a guest a PMU, as a fix
};

/// What was recognised.
struct Hypervisor {
    bool present = false;                  ///< the machine is a guest
    const HypervisorKind* kind = nullptr;  ///< null: the kind is unknown
    std::string evidence;                  ///< the files and CPUID leaves with what they say

    std::string_view name() const { return kind != nullptr ? kind->name : "an unknown hypervisor"; }
};

/// From /proc/cpuinfo, DMI tables, ACPI and /sys/hypervisor; on this machine also from CPUID.
Hypervisor hypervisor(const Root& root);

}  // namespace anyperf::host
