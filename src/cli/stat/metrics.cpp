// metrics.cpp: the table of ratios, which are those of `perf stat` (perf-stat(1), "EXAMPLES"), the rates, and the
// shares of --topdown.
//
// An event has one metric at most. The first that can be computed wins: of a clock the CPUs utilized, of a topdown
// event its share, else the ratio to its denominator, else the rate by CPU time. Two counts are combined only if they
// are of the same place, cgroup and PMU.
#include "cli/stat/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "abi/event_ids.h"

namespace anyperf::cli::stat {

namespace {

/// One of the kernel's generic events. Type and config identify it (perf_event_open(2)).
struct GenericEvent {
    std::uint32_t type;
    std::uint64_t config;

    bool is(const events::Event& event) const {
        // On a hybrid machine the upper half of config is the type of the core's PMU (PERF_PMU_TYPE_SHIFT).
        const std::uint64_t mask = type == abi::kTypeSoftware ? ~std::uint64_t{0} : 0xffff'ffff;
        return event.attr.type == type && (event.attr.config & mask) == config;
    }
};

/// The config of PERF_TYPE_HW_CACHE: cache id, operation (0: read) and result (0: access, 1: miss).
constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
    return which | operation << 8 | result << 16;
}

constexpr GenericEvent kCpuClock{abi::kTypeSoftware, 0};
constexpr GenericEvent kTaskClock{abi::kTypeSoftware, 1};
constexpr GenericEvent kCycles{abi::kTypeHardware, 0};
constexpr GenericEvent kInstructions{abi::kTypeHardware, 1};
constexpr GenericEvent kBranches{abi::kTypeHardware, 4};

constexpr std::string_view kUtilisation = "CPUs utilized";

/// A metric that divides two counts.
struct Ratio {
    GenericEvent numerator;  ///< the event that the metric is shown next to
    GenericEvent denominator;
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

/// The counted line of `event` in the place, cgroup and PMU of `beside`; null if there is none.
const Line* find_beside(const GenericEvent& event, const Line& beside, std::span<const Line> lines) {
    const auto found = std::ranges::find_if(lines, [&](const Line& line) {
        return line.where == beside.where && line.cgroup == beside.cgroup && line.event.pmu == beside.event.pmu &&
               event.is(line.event) && line.status() == Status::counted;
    });
    return found == lines.end() ? nullptr : &*found;
}

/// Nanoseconds of CPU time, from the clock event of the same place and cgroup; 0 if none was counted. Clocks that are
/// modelled, or that include anyperf's own time, do not count: a rate computed from them would mean nothing.
double cpu_time(const Line& line, std::span<const Line> lines) {
    for (const auto& other : lines)
        if (other.where == line.where && other.cgroup == line.cgroup && other.status() == Status::counted &&
            (kTaskClock.is(other.event) || kCpuClock.is(other.event)) && mark_of(other).empty())
            return static_cast<double>(other.count.value);
    return 0;
}

/// Events per second, with a unit that keeps the number short.
Metric rate(double per_second) {
    if (per_second >= 1e9) return {per_second / 1e9, "G/sec"};
    if (per_second >= 1e6) return {per_second / 1e6, "M/sec"};
    if (per_second >= 1e3) return {per_second / 1e3, "K/sec"};
    return {per_second, "/sec"};
}

/// Where the slots of the pipeline go. The four events of --topdown divide up the slots, so each is a share of their
/// sum. That holds for Ice Lake and later (Intel SDM volume 3, "Performance Metrics").
struct Share {
    std::string_view event;
    std::string_view unit;
};
constexpr std::array kTopdown{
    Share{"topdown-retiring", "retiring"},
    Share{"topdown-bad-spec", "bad speculation"},
    Share{"topdown-fe-bound", "frontend bound"},
    Share{"topdown-be-bound", "backend bound"},
};

const Share* topdown_share(const Line& line) {
    const auto share = std::ranges::find_if(kTopdown, [&](const Share& row) {
        return !line.event.pmu.empty() && line.event.source_text == line.event.pmu + "/" + std::string{row.event} + "/";
    });
    return share == kTopdown.end() ? nullptr : &*share;
}

/// The share of the line in the sum of the four events; no value unless all four were counted in its place and cgroup.
std::optional<Metric> topdown_metric(const Line& line, const Share& share, std::span<const Line> lines) {
    double sum = 0;
    std::size_t counted = 0;
    for (const auto& other : lines) {
        if (other.where != line.where || other.cgroup != line.cgroup || other.event.pmu != line.event.pmu) continue;
        if (topdown_share(other) == nullptr || other.status() != Status::counted) continue;
        sum += static_cast<double>(other.count.value);
        ++counted;
    }
    if (counted != kTopdown.size() || sum == 0) return std::nullopt;
    return Metric{
        .value = 100 * static_cast<double>(line.count.value) / sum, .unit = std::string{share.unit}, .percent = true};
}

std::string mark(bool modelled, const std::string& machine, bool with_own_share) {
    if (!machine.empty()) return fmt::format("(modelled: {})", machine);
    if (modelled) return std::string{kModelledMark};
    return with_own_share ? std::string{kOwnShareMark} : std::string{};
}

}  // namespace

std::string mark_of(const Line& line) {
    if (line.status() != Status::counted) return {};
    return mark(line.modelled, line.machine, line.with_own_share);
}

std::string mark_of(const Metric& metric) {
    return mark(metric.modelled, metric.machine, metric.with_own_share);
}

std::string unit_field(const Metric& metric) {
    return metric.percent ? "% " + metric.unit : metric.unit;
}

// --metric-only shows what perf's valid_only_metric() lets through: everything but rates in "/sec" and the utilisation.
bool is_ratio(const Metric& metric) {
    return metric.unit != kUtilisation && !metric.unit.ends_with("/sec");
}

std::optional<Metric> metric_of(const Line& line, std::span<const Line> lines, std::uint64_t wall_ns) {
    if (line.status() != Status::counted) return std::nullopt;
    const auto value = static_cast<double>(line.count.value);
    if (kTaskClock.is(line.event) || kCpuClock.is(line.event)) {
        if (wall_ns == 0 || line.modelled) return std::nullopt;
        return Metric{.value = value / static_cast<double>(wall_ns),
                      .unit = std::string{kUtilisation},
                      .with_own_share = line.with_own_share};
    }
    if (const Share* share = topdown_share(line)) return topdown_metric(line, *share, lines);
    // Without a count of the denominator, or if that is 0, the event has a rate instead of a ratio.
    for (const auto& ratio : kRatios) {
        if (!ratio.numerator.is(line.event)) continue;
        const Line* base = find_beside(ratio.denominator, line, lines);
        if (base == nullptr || base->count.value == 0) break;
        const double quotient = value / static_cast<double>(base->count.value);
        return Metric{.value = ratio.percent ? quotient * 100 : quotient,
                      .unit = std::string{ratio.unit},
                      .percent = ratio.percent,
                      .modelled = line.modelled || base->modelled,
                      .machine = line.machine.empty() ? base->machine : line.machine};
    }
    const double time = cpu_time(line, lines);
    // Modelled cycles have no relation to real time, so a frequency or rate of them would mean nothing.
    if (time == 0 || !line.whole() || line.modelled || !line.event.unit.empty()) return std::nullopt;
    if (kCycles.is(line.event)) return Metric{value / time, "GHz"};
    return rate(value / time * 1e9);
}

}  // namespace anyperf::cli::stat
