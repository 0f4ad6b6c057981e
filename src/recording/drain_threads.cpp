#include "recording/drain_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>

#include "host/hardware/cpus.h"
#include "host/hardware/topology.h"
#include "try.h"

namespace anyperf::recording {

namespace {

Error refusal(std::string_view spec, std::string cause, std::string fix) {
    return {fmt::format("bad --threads={}", spec), std::move(cause), std::move(fix)};
}

/// CPUs with the same key share a thread.
using Key = std::tuple<int, int, int>;
using KeyOf = Key (*)(int cpu, const host::CpuPosition& position);

struct Layout {
    std::string_view name;
    KeyOf key;
};
constexpr std::array kLayouts{
    Layout{"cpu", [](int cpu, const host::CpuPosition&) { return Key{cpu, 0, 0}; }},
    Layout{"core",
           [](int cpu, const host::CpuPosition& at) {
               // Where the kernel does not say it, each CPU is a core.
               return at.core ? Key{at.socket.value_or(0), at.die.value_or(0), *at.core} : Key{-1, -1, cpu};
           }},
    Layout{"package", [](int, const host::CpuPosition& at) { return Key{at.socket.value_or(0), 0, 0}; }},
    Layout{"numa", [](int, const host::CpuPosition& at) { return Key{at.node.value_or(0), 0, 0}; }},
};

std::vector<DrainThread> by_layout(const Layout& layout, std::span<const int> cpus, const host::Root& root) {
    std::map<Key, std::vector<int>> groups;
    for (const int cpu : cpus) groups[layout.key(cpu, host::position_of(root, cpu))].push_back(cpu);
    std::vector<DrainThread> threads;
    for (const auto& [key, group] : groups) threads.push_back({group, group});
    return threads;
}

/// "0,2-4/2-4"
Result<DrainThread> read_mask(std::string_view mask, std::string_view spec) {
    const auto slash = mask.find('/');
    auto rings = host::parse_cpu_list(mask.substr(0, slash));
    auto affinity = host::parse_cpu_list(slash == std::string_view::npos ? "" : mask.substr(slash + 1));
    if (slash == std::string_view::npos || !rings || !affinity || rings->empty() || affinity->empty())
        return std::unexpected(refusal(spec, fmt::format("'{}' is not two lists of CPUs with a '/' between", mask),
                                       "give cpu, core, package, numa, or masks such as 0-3/0:4-7/4"));
    return DrainThread{std::move(*rings), std::move(*affinity)};
}

Result<void> add_mask(DrainThread thread, std::string_view mask, std::string_view spec, std::span<const int> cpus,
                      std::vector<DrainThread>& threads) {
    const auto is_recorded = [&](int cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); };
    std::erase_if(thread.rings, [&](int cpu) { return !is_recorded(cpu); });
    std::erase_if(thread.affinity, [&](int cpu) { return !is_recorded(cpu); });
    if (thread.rings.empty() || thread.affinity.empty())
        return std::unexpected(
            refusal(spec, fmt::format("'{}' has no CPU that is recorded", mask), "see -C, and `lscpu`"));
    const auto shares = [](const std::vector<int>& a, const std::vector<int>& b) {
        return std::ranges::find_first_of(a, b) != a.end();
    };
    for (const DrainThread& other : threads)
        if (shares(other.rings, thread.rings) || shares(other.affinity, thread.affinity))
            return std::unexpected(
                refusal(spec, fmt::format("'{}' overlaps with a mask before it", mask), "give each CPU to one thread"));
    threads.push_back(std::move(thread));
    return {};
}

/// A ring that no thread empties would lose all of its records.
Result<void> check_all_are_emptied(std::span<const DrainThread> threads, std::string_view spec,
                                   std::span<const int> cpus) {
    for (const int cpu : cpus) {
        const bool emptied = std::ranges::any_of(
            threads, [&](const DrainThread& each) { return std::ranges::find(each.rings, cpu) != each.rings.end(); });
        if (!emptied)
            return std::unexpected(refusal(spec, fmt::format("no mask has CPU {}, which is recorded", cpu),
                                           "add it to a mask, or record fewer CPUs with -C"));
    }
    return {};
}

}  // namespace

Result<std::vector<DrainThread>> drain_threads(std::string_view spec, std::span<const int> cpus,
                                               const host::Root& root) {
    const std::string_view name = spec.empty() ? kLayouts.front().name : spec;
    if (const auto layout = std::ranges::find(kLayouts, name, &Layout::name); layout != kLayouts.end())
        return by_layout(*layout, cpus, root);
    std::vector<DrainThread> threads;
    for (const auto piece : std::views::split(spec, ':')) {
        const std::string_view mask{piece};
        auto thread = TRY(read_mask(mask, spec));
        TRY(add_mask(std::move(thread), mask, spec, cpus, threads));
    }
    TRY(check_all_are_emptied(threads, spec, cpus));
    return threads;
}

}  // namespace anyperf::recording
