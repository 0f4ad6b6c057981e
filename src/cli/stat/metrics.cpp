// metrics.cpp: see metrics.h. Which ratios: those of `perf stat` (perf-stat(1), "EXAMPLES").
#include "cli/stat/metrics.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "abi/event_ids.h"

namespace anyperf::cli::stat {

namespace {

/// The kernel's generic events, by type and config.
struct Generic {
    std::uint32_t type;
    std::uint64_t config;

    bool is(const events::Event& event) const {
        // The upper half of config tells a hybrid machine's core type.
        const std::uint64_t mask = type == abi::kTypeSoftware ? ~std::uint64_t{0} : 0xffff'ffff;
        return event.attr.type == type && (event.attr.config & mask) == config;
    }
};

constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
    return which | operation << 8 | result << 16;
}

constexpr Generic kCpuClock{abi::kTypeSoftware, 0};
constexpr Generic kTaskClock{abi::kTypeSoftware, 1};
constexpr Generic kCycles{abi::kTypeHardware, 0};
constexpr Generic kInstructions{abi::kTypeHardware, 1};
constexpr Generic kBranches{abi::kTypeHardware, 4};

constexpr std::string_view kUtilisation = "CPUs utilized";

struct Ratio {
    Generic of;
    Generic to;
    bool percent;
    std::string_view unit;
};

constexpr std::array kRatios{
    Ratio{kInstructions, kCycles, false, "insn per cycle"},
    Ratio{{abi::kTypeHardware, 3}, {abi::kTypeHardware, 2}, true, "of all cache refs"},
    Ratio{{abi::kTypeHardware, 5}, kBranches, true, "of all branches"},
    Ratio{{abi::kTypeHardware, 7}, kCycles, true, "frontend cycles idle"},
    Ratio{{abi::kTypeHardware, 8}, kCycles, true, "backend cycles idle"},
    Ratio{{abi::kTypeHwCache, cache(0, 0, 1)}, {abi::kTypeHwCache, cache(0, 0, 0)}, true, "of all L1-dcache accesses"},
    Ratio{{abi::kTypeHwCache, cache(1, 0, 1)}, {abi::kTypeHwCache, cache(1, 0, 0)}, true, "of all L1-icache accesses"},
    Ratio{{abi::kTypeHwCache, cache(2, 0, 1)}, {abi::kTypeHwCache, cache(2, 0, 0)}, true, "of all LL-cache accesses"},
    Ratio{{abi::kTypeHwCache, cache(3, 0, 1)}, {abi::kTypeHwCache, cache(3, 0, 0)}, true, "of all dTLB cache accesses"},
    Ratio{{abi::kTypeHwCache, cache(4, 0, 1)}, {abi::kTypeHwCache, cache(4, 0, 0)}, true, "of all iTLB cache accesses"},
};

const Line* find(const Generic& event, const Line& beside, std::span<const Line> lines) {
    const auto found = std::ranges::find_if(lines, [&](const Line& line) {
        return line.where == beside.where && line.cgroup == beside.cgroup && line.event.pmu == beside.event.pmu &&
               event.is(line.event) && line.status() == Status::counted;
    });
    return found == lines.end() ? nullptr : &*found;
}

/// Nanoseconds on a CPU, from the clock event that was counted beside; 0 where none was.
double cpu_time(const Line& line, std::span<const Line> lines) {
    for (const auto& other : lines)
        if (other.where == line.where && other.cgroup == line.cgroup && other.status() == Status::counted &&
            (kTaskClock.is(other.event) || kCpuClock.is(other.event)))
            return static_cast<double>(other.count.value);
    return 0;
}

Metric rate(double per_second) {
    if (per_second >= 1e9) return {per_second / 1e9, "G/sec"};
    if (per_second >= 1e6) return {per_second / 1e6, "M/sec"};
    if (per_second >= 1e3) return {per_second / 1e3, "K/sec"};
    return {per_second, "/sec"};
}

}  // namespace

bool is_ratio(const Metric& metric) {
    return metric.unit != kUtilisation && !metric.unit.ends_with("/sec");
}

std::optional<Metric> metric_of(const Line& line, std::span<const Line> lines, std::uint64_t wall_ns) {
    if (line.status() != Status::counted) return std::nullopt;
    const auto value = static_cast<double>(line.count.value);
    if (kTaskClock.is(line.event) || kCpuClock.is(line.event)) {
        if (wall_ns == 0) return std::nullopt;
        return Metric{value / static_cast<double>(wall_ns), std::string{kUtilisation}};
    }
    for (const auto& ratio : kRatios) {
        if (!ratio.of.is(line.event)) continue;
        const Line* base = find(ratio.to, line, lines);
        if (base == nullptr || base->count.value == 0) break;
        const double quotient = value / static_cast<double>(base->count.value);
        return Metric{ratio.percent ? quotient * 100 : quotient, std::string{ratio.unit}, ratio.percent};
    }
    const double time = cpu_time(line, lines);
    // Modelled cycles have nothing to do with the time that they took.
    if (time == 0 || !line.whole() || line.modelled || !line.event.unit.empty()) return std::nullopt;
    if (kCycles.is(line.event)) return Metric{value / time, "GHz"};
    return rate(value / time * 1e9);
}

}  // namespace anyperf::cli::stat
