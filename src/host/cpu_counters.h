// cpu_counters.h: the hardware counters that the processor says it has, before any kernel or driver has its say.
#pragma once

#include <string>

#include "host/root.h"

namespace anyperf::host {

struct CpuCounters {
    bool known = false;  ///< something could be asked: CPUID, or flags in /proc/cpuinfo
    bool present = false;
    int general = 0;  ///< programmable counters of a thread; 0: not told
    int fixed = 0;    ///< counters for one event each
    std::string evidence;
};

/// From CPUID on this machine (Intel leaf 0xA; AMD leaves 0x80000001 and 0x80000022), from /proc/cpuinfo's flags on
/// another. Of processors other than x86 nothing is known.
CpuCounters cpu_counters(const Root& root);

}  // namespace anyperf::host
