// cpu_counters.cpp: the counters as CPUID or /proc/cpuinfo describes them. Sources: Intel SDM volume 3, "Architectural
// Performance Monitoring"; AMD APM volume 2, "Performance Monitoring Counters" and volume 3, appendix E (Fn8000_0001
// ECX bit 23 PerfCtrExtCore, Fn8000_0022 PerfMonV2).
#include "host/hardware/cpu_counters.h"

#include <array>
#include <cstdint>
#include <sstream>
#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace anyperf::host {

namespace {

constexpr int kAmdCounters = 4;  // of CPUs before PerfCtrExtCore
constexpr unsigned kFirstAmdFamilyExtended = 0x15;
constexpr int kAmdCountersExtended = 6;  // with PerfCtrExtCore; PerfMonV2 reports its own number

/// Whether the first processor of /proc/cpuinfo has a flag.
bool has_flag(const std::string& cpuinfo, std::string_view flag) {
    const auto start = cpuinfo.find("\nflags");
    if (start == cpuinfo.npos) return false;
    std::istringstream words{cpuinfo.substr(start, cpuinfo.find('\n', start + 1) - start)};
    for (std::string word; words >> word;)
        if (word == flag) return true;
    return false;
}

/// arch_perfmon is Intel's flag, perfctr_core AMD's since family 15h.
CpuCounters from_cpuinfo(const Root& root) {
    CpuCounters counters;
    const auto cpuinfo = root.read("/proc/cpuinfo");
    if (!cpuinfo || cpuinfo->find("\nflags") == cpuinfo->npos) return counters;
    counters.known = true;
    for (const std::string_view flag : {"arch_perfmon", "perfctr_core"}) {
        if (!has_flag(*cpuinfo, flag)) continue;
        counters.present = true;
        counters.evidence = "/proc/cpuinfo has the flag '" + std::string{flag} + "'";
    }
    if (!counters.present) counters.evidence = "/proc/cpuinfo has neither flag 'arch_perfmon' nor 'perfctr_core'";
    return counters;
}

#if defined(__x86_64__)
struct Leaf {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zero if the processor has no such leaf.
Leaf leaf(unsigned number) {
    Leaf values;
    if (__get_cpuid(number, &values.eax, &values.ebx, &values.ecx, &values.edx) == 0) return {};
    return values;
}

CpuCounters from_intel() {
    const Leaf perfmon = leaf(0xA);
    const auto version = static_cast<int>(perfmon.eax & 0xff);
    CpuCounters counters{true, version > 0, static_cast<int>(perfmon.eax >> 8 & 0xff), 0, ""};
    if (version > 1) counters.fixed = static_cast<int>(perfmon.edx & 0x1f);
    counters.evidence =
        "CPUID leaf 0xA: version " + std::to_string(version) + " of architectural performance monitoring";
    return counters;
}

/// The family of the CPU: leaf 1, EAX bits 8 to 11, and for 15 the sum with bits 20 to 27 (APM volume 3, CPUID).
unsigned family() {
    const std::uint32_t signature = leaf(1).eax;
    const unsigned base = signature >> 8 & 0xf;
    return base == 0xf ? base + (signature >> 20 & 0xff) : base;
}

// EBX of leaf 0x80000022 has the number of core counters in its low four bits. Without PerfMonV2 the number follows
// from PerfCtrExtCore, or from the family: CPUID does not announce the four counters that AMD's CPUs have had since K7.
CpuCounters from_amd() {
    const bool extended = (leaf(0x80000001).ecx >> 23 & 1) != 0;
    const Leaf perfmon = leaf(0x80000022);
    // Family 15h introduced PerfCtrExtCore, and Zen has it, too. If such a CPU lacks it, a hypervisor hides it.
    const bool before_extended = family() < kFirstAmdFamilyExtended;
    CpuCounters counters{true, extended || before_extended,
                         extended          ? kAmdCountersExtended
                         : before_extended ? kAmdCounters
                                           : 0,
                         0, ""};
    const bool version2 = (perfmon.eax & 1) != 0;
    if (version2) counters.general = static_cast<int>(perfmon.ebx & 0xf);
    counters.evidence = std::string{"CPUID leaf 0x80000001 "} + (extended ? "has" : "lacks") + " PerfCtrExtCore" +
                        (!extended && before_extended ? ", which came after this CPU's family" : "") +
                        (version2 ? ", leaf 0x80000022 has PerfMonV2" : "");
    return counters;
}

CpuCounters from_cpuid(const Root& root) {
    const Leaf vendor = leaf(0);
    constexpr unsigned kGenu = 0x756e6547, kAuth = 0x68747541, kHygo = 0x6f677948;  // EBX of leaf 0
    if (vendor.ebx == kGenu) return from_intel();
    if (vendor.ebx == kAuth || vendor.ebx == kHygo) return from_amd();
    return from_cpuinfo(root);
}
#else
CpuCounters from_cpuid(const Root& root) {
    return from_cpuinfo(root);
}
#endif

}  // namespace

bool is_x86(const Root& root) {
#if defined(__x86_64__)
    if (root.is_this_machine()) return true;
#endif
    return root.read("/proc/cpuinfo").value_or("").find("\ncpu family") != std::string::npos;
}

// CPUID describes only this machine. Of another machine, `root` has only /proc/cpuinfo.
CpuCounters cpu_counters(const Root& root) {
    return root.is_this_machine() ? from_cpuid(root) : from_cpuinfo(root);
}

}  // namespace anyperf::host
