// cpu_counters.h: the hardware counters that the processor itself reports, whether or not the kernel uses them. If
// sysfs has no PMU, they show why: either the processor has none (or the hypervisor hides it), or the kernel does not
// use it.
#pragma once

#include <string>

#include "host/root.h"

namespace anyperf::host {

struct CpuCounters {
    bool known = false;    ///< CPUID could be read, or /proc/cpuinfo has flags; otherwise nothing below is valid
    bool present = false;  ///< the processor reports hardware counters
    int general = 0;       ///< programmable counters per hardware thread; 0: not reported
    int fixed = 0;         ///< counters that can count one event only
    std::string evidence;  ///< the leaf or flag and what it says
};

/// On this machine from CPUID (Intel: leaf 0xA; AMD and Hygon: leaves 0x80000001 and 0x80000022). For other vendors and
/// other machines from the flags in /proc/cpuinfo, which give no numbers. Nothing is known about processors other than
/// x86.
CpuCounters cpu_counters(const Root& root);

/// Whether the processor is an x86, which `anyperf run` and its virtual PMU need. For another machine /proc/cpuinfo
/// decides: only x86 has a line "cpu family" (show_cpuinfo() in arch/x86/kernel/cpu/proc.c).
bool is_x86(const Root& root);

}  // namespace anyperf::host
