// cpuinfo.cpp: rewrites /proc/cpuinfo line by line. A line whose key is not in kLines is copied unchanged.
#include "pmu/cpu/cpuinfo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pmu/cpu/cost_model.h"
#include "pmu/cpu/cpu_levels.h"
#include "pmu/cpu/identity.h"

namespace anyperf::pmu {
namespace {

/// A line that differs from the host's.
struct Line {
    std::string_view key;
    std::string (*value)(std::string_view host, const CpuIdentity& cpu);  ///< null: the line is removed
};

constexpr std::string_view kFlags = "flags";

/// Flags to remove. The engine also hides the features hle, rtm, rtm_always_abort, ibt and user_shstk from CPUID; the
/// others describe AMD's counters and topology leaves (cpuid::kAmdCounters in cpuid_identity.h).
constexpr std::array<std::string_view, 13> kRemovedFlags{
    "amd_lbr_pmc_freeze", "amd_lbr_v2",  "hle",        "ibs",        "ibt",
    "perfctr_core",       "perfctr_llc", "perfctr_nb", "perfmon_v2", "rtm",
    "rtm_always_abort",   "topoext",     "user_shstk"};

/// Flags that a deterministic run removes as well (hide_random() in the engine's cpuid.cpp).
constexpr std::array<std::string_view, 2> kRandomFlags{"rdrand", "rdseed"};

bool is_removed(std::string_view flag, bool deterministic) {
    return std::ranges::find(kRemovedFlags, flag) != kRemovedFlags.end() ||
           (deterministic && std::ranges::find(kRandomFlags, flag) != kRandomFlags.end());
}

/// The host's flags without the removed ones, and with arch_perfmon, which the virtual PMU has on any host. On a host
/// with AVX-512 a presented Skylake client also hides what such a CPU lacks (rows_without_avx512()).
std::string flags(std::string_view host, const CpuIdentity& cpu, bool deterministic) {
    const bool is_client = cpu.model == kSkylakeClient.model && host.find("avx512f") != std::string_view::npos;
    std::string kept;
    bool has_counters = false;
    while (!host.empty()) {
        const std::string_view flag = host.substr(0, host.find(' '));
        host.remove_prefix(std::min(host.size(), flag.size() + 1));
        if (flag.empty() || is_removed(flag, deterministic)) continue;
        if (is_client && is_beyond_skylake_client(flag)) continue;
        has_counters |= flag == "arch_perfmon";
        kept.append(kept.empty() ? "" : " ").append(flag);
    }
    return has_counters ? kept : kept + " arch_perfmon";
}

/// The cache size is that of the L3 in CPUID (cpuid_identity.h). bogomips is twice the clock, as of every kernel that
/// takes its delays from the TSC.
constexpr std::array kLines{
    Line{"vendor_id", [](std::string_view, const CpuIdentity&) { return std::string{kVendor}; }},
    Line{"cpu family", [](std::string_view, const CpuIdentity&) { return fmt::format("{}", kFamily); }},
    Line{"model", [](std::string_view, const CpuIdentity& cpu) { return fmt::format("{}", cpu.model); }},
    Line{"model name", [](std::string_view, const CpuIdentity& cpu) { return std::string{cpu.brand}; }},
    Line{"stepping", [](std::string_view, const CpuIdentity& cpu) { return fmt::format("{}", cpu.stepping); }},
    Line{"microcode", [](std::string_view, const CpuIdentity&) { return std::string{"0x1"}; }},
    Line{"cpu MHz", [](std::string_view, const CpuIdentity&) { return fmt::format("{}.000", kClockMhz); }},
    Line{"cache size", [](std::string_view, const CpuIdentity&) { return std::string{"25344 KB"}; }},
    Line{"bogomips", [](std::string_view, const CpuIdentity&) { return fmt::format("{}.00", 2 * kClockMhz); }},
    Line{"TLB size", nullptr},
};

std::string_view without_trailing_blanks(std::string_view text) {
    const std::size_t last = text.find_last_not_of(" \t");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Appends one line, or nothing if it is to be removed. A line is "key\t: value"; the blanks before the colon stay as
/// the host has them.
void put_line(std::string& text, std::string_view line, const CpuIdentity& cpu, bool deterministic) {
    const std::size_t colon = line.find(':');
    const std::string_view key = without_trailing_blanks(line.substr(0, std::min(colon, line.size())));
    const auto row = std::ranges::find(kLines, key, &Line::key);
    const bool has_flags = key == kFlags;
    if (colon == std::string_view::npos || (row == kLines.end() && !has_flags)) {
        text.append(line).append("\n");
        return;
    }
    if (!has_flags && row->value == nullptr) return;
    const std::string_view value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    const std::string shown = has_flags ? flags(value, cpu, deterministic) : row->value(value, cpu);
    text.append(line.substr(0, colon)).append(": ").append(shown).append("\n");
}

}  // namespace

std::string virtual_cpuinfo(std::string_view host, const CpuIdentity& cpu, bool deterministic) {
    std::string text;
    text.reserve(host.size());
    while (!host.empty()) {
        const std::string_view line = host.substr(0, host.find('\n'));
        host.remove_prefix(std::min(host.size(), line.size() + 1));
        put_line(text, line, cpu, deterministic);
    }
    return text;
}

}  // namespace anyperf::pmu
