// literals.cpp: one function for each literal, and a table of their names. A literal is a constant of the machine, not
// a count: a formula reads it once, when the metric is resolved (metric_formula.cpp).
//
// All facts are read through `root`, never by CPUID or sysconf(3): `root` may be the copy of another machine (--root,
// host/machine_copy.h).
//
// NaN means that the machine does not show the value. 0 would not do, because it is a value of some literals (#smt_on).
// MetricFormula::resolve() reports the literal as missing.
#include "cli/metrics/literals.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "host/hardware/cpus.h"
#include "host/hardware/topology.h"

namespace anyperf::cli {

namespace {

using host::Root;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// "0x8": the number after the prefix.
std::optional<std::uint64_t> hexadecimal(std::string_view text) {
    std::uint64_t value = 0;
    if (!text.starts_with("0x")) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    return error == std::errc{} ? std::optional{value} : std::nullopt;
}

double smt_on(const Root& root, bool) {
    const auto active = root.read("/sys/devices/system/cpu/smt/active");
    if (active) return *active == "1" ? 1 : 0;
    // Kernels before 4.19 have no such file, but list the threads of a core. Without that list, too, there is one each.
    const auto siblings = root.read("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    return siblings && siblings->find_first_of(",-") != std::string::npos ? 1 : 0;
}

/// Whether all hardware threads of a core are counted: only with -a.
double core_wide(const Root&, bool system_wide) {
    return system_wide ? 1 : 0;
}

/// perf takes the highest number of a CPU that is present, plus one.
double num_cpus(const Root& root, bool) {
    const auto text = root.read("/sys/devices/system/cpu/present");
    const auto cpus = text ? host::parse_cpu_list(*text) : Result<std::vector<int>>{};
    return cpus && !cpus->empty() ? cpus->back() + 1 : kUnknown;
}

double num_cpus_online(const Root& root, bool) {
    const auto cpus = host::online_cpus(root);
    return cpus ? static_cast<double>(cpus->size()) : kUnknown;
}

/// How many different parts of the machine the CPUs that are online belong to.
template <class PartOf>
double count_parts(const Root& root, PartOf part_of) {
    const auto cpus = host::online_cpus(root);
    if (!cpus) return kUnknown;
    std::set<decltype(part_of(host::CpuPosition{}))> parts;
    for (const int cpu : *cpus) {
        const host::CpuPosition position = host::position_of(root, cpu);
        if (!position.socket || !position.core) return kUnknown;
        parts.insert(part_of(position));
    }
    return static_cast<double>(parts.size());
}

// How many sockets the online CPUs are in. Numbers of dies and cores repeat from one socket to the next, so the
// functions below count whole positions.
double num_packages(const Root& root, bool) {
    return count_parts(root, [](const host::CpuPosition& at) { return at.socket; });
}

double num_dies(const Root& root, bool) {
    return count_parts(root, [](const host::CpuPosition& at) { return std::tuple{at.socket, at.die}; });
}

double num_cores(const Root& root, bool) {
    return count_parts(root, [](const host::CpuPosition& at) { return std::tuple{at.socket, at.die, at.core}; });
}

/// In Hz. Intel's names of CPUs end with the nominal frequency, which is that of the TSC: "… CPU @ 2.20GHz". perf asks
/// CPUID leaf 0x15 first, and reads the name only without it (arch_get_tsc_freq() in tools/perf/arch/x86/util/tsc.c). A
/// name without a frequency leaves the literal unknown.
double system_tsc_freq(const Root& root, bool) {
    const auto text = root.read("/proc/cpuinfo");
    if (!text) return kUnknown;
    const auto model = text->find("model name");
    const auto at = model == std::string::npos ? model : text->find("@ ", model);
    if (at == std::string::npos || at > text->find('\n', model)) return kUnknown;
    double value = 0;
    const char* const first = text->data() + at + 2;
    const auto [end, error] = std::from_chars(first, text->data() + text->size(), value);
    if (error != std::errc{}) return kUnknown;
    const std::string_view unit{end, text->data() + text->size()};
    return unit.starts_with("GHz") ? value * 1e9 : unit.starts_with("MHz") ? value * 1e6 : kUnknown;
}

// Whether the firmware describes persistent memory. NFIT is the ACPI table for it.
double has_pmem(const Root& root, bool) {
    return root.exists("/sys/firmware/acpi/tables/NFIT") ? 1 : 0;
}

/// How many operations an ARM core can begin in a cycle. The driver has it for cores whose register says so.
double slots(const Root& root, bool) {
    constexpr std::string_view kPmus = "/sys/bus/event_source/devices/";
    for (const std::string& pmu : root.list(kPmus)) {
        const auto text = pmu.starts_with("armv8") ? root.read(std::string{kPmus} + pmu + "/caps/slots")
                                                   : Result<std::string>{std::unexpected(Error{})};
        if (text)
            if (const auto value = hexadecimal(*text)) return static_cast<double>(*value);
    }
    return kUnknown;
}

constexpr std::string_view kIsCpu = "#strcmp_cpuid_str(";

/// 1 if the machine's ARM CPU is the one of that MIDR, in this or a later version (strcmp_cpuid_str() of perf's arm64).
double is_cpu(const Root& root, std::string_view literal) {
    constexpr std::uint64_t kVersion = 0xf0000f;  // variant and revision
    const auto text = root.read("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    const auto midr = text ? hexadecimal(*text) : std::nullopt;
    const auto wanted = hexadecimal(literal.substr(kIsCpu.size()));
    if (!midr || !wanted) return kUnknown;
    return (*midr & ~kVersion) == (*wanted & ~kVersion) && (*midr & kVersion) >= (*wanted & kVersion) ? 1 : 0;
}

struct Literal {
    std::string_view name;
    double (*value)(const Root& root, bool system_wide);
};
constexpr std::array kLiterals{
    Literal{"#smt_on", smt_on},
    Literal{"#core_wide", core_wide},
    Literal{"#num_cpus", num_cpus},
    Literal{"#num_cpus_online", num_cpus_online},
    Literal{"#num_cores", num_cores},
    Literal{"#num_dies", num_dies},
    Literal{"#num_packages", num_packages},
    Literal{"#system_tsc_freq", system_tsc_freq},
    Literal{"#has_pmem", has_pmem},
    Literal{"#slots", slots},
};

}  // namespace

double literal_value(const Root& root, std::string_view literal, bool system_wide) {
    if (literal.starts_with(kIsCpu)) return is_cpu(root, literal);
    for (const Literal& row : kLiterals)
        if (row.name == literal) return row.value(root, system_wide);
    return kUnknown;
}

}  // namespace anyperf::cli
