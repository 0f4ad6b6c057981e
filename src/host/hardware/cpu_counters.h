// cpu_counters.h: the hardware counters that the processor itself reports, whether or not the kernel uses them. The
// difference to sysfs shows whether the PMU is missing in the processor (or hidden by the hypervisor) or unused.
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

/// On this machine from CPUID (Intel leaf 0xA; AMD leaves 0x80000001 and 0x80000022). On another machine from the flags
/// in its /proc/cpuinfo, which give no numbers. Nothing is known about processors other than x86.
CpuCounters cpu_counters(const Root& root);

/// Whether the processor is an x86, which `anyperf run` and its virtual PMU need. Of another machine /proc/cpuinfo
/// shows it: only x86 has a line "cpu family" (show_cpuinfo() in arch/x86/kernel/cpu/proc.c).
bool is_x86(const Root& root);

}  // namespace anyperf::host
