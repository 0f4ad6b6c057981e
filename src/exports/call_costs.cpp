#include "exports/call_costs.h"

#include <algorithm>
#include <vector>

namespace anyperf::exports {

namespace {

constexpr std::uint32_t kNew = 0xffff'ffffu;

/// The calls by one end: those of function f are ids[starts[f]] up to ids[starts[f + 1]].
struct CallsOf {
    std::vector<std::uint32_t> ids;
    std::vector<std::size_t> starts;

    CallsOf(std::span<const CountedCalls> calls, std::size_t functions, std::uint32_t CountedCalls::* end)
        : ids(calls.size()), starts(functions + 1) {
        for (const CountedCalls& each : calls) ++starts[each.*end + 1];
        for (std::size_t i = 0; i < functions; ++i) starts[i + 1] += starts[i];
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        for (std::uint32_t i = 0; i < calls.size(); ++i) ids[next[calls[i].*end]++] = i;
    }
    std::span<const std::uint32_t> operator[](std::uint32_t function) const {
        return std::span{ids}.subspan(starts[function], starts[function + 1] - starts[function]);
    }
};

/// The cycles of the call graph (R. Tarjan: Depth-first search and linear graph algorithms, 1972). A function that is
/// in none is a cycle of its own. A cycle comes after all cycles that it calls. Without recursion: chains of calls can
/// be longer than the stack.
class Cycles {
  public:
    Cycles(std::span<const CountedCalls> calls, const CallsOf& of_caller, std::size_t functions)
        : calls_(calls), of_caller_(of_caller), cycle_of(functions, kNew), number_(functions, kNew), low_(functions) {
        for (std::uint32_t function = 0; function < functions; ++function)
            if (number_[function] == kNew) visit(function);
    }

  private:
    struct Step {
        std::uint32_t function = 0;
        std::size_t next = 0;  // of its calls
    };

    void visit(std::uint32_t root) {
        std::vector<Step> path;
        enter(root, path);
        while (!path.empty()) {
            auto& [function, next] = path.back();
            const auto own = of_caller_[function];
            if (next == own.size()) {
                leave(path);
                continue;
            }
            const std::uint32_t called = calls_[own[next++]].called;
            if (number_[called] == kNew)
                enter(called, path);
            else if (cycle_of[called] == kNew)
                low_[function] = std::min(low_[function], number_[called]);
        }
    }

    void enter(std::uint32_t function, std::vector<Step>& path) {
        number_[function] = low_[function] = entered_++;
        open_.push_back(function);
        path.push_back({function});
    }

    void leave(std::vector<Step>& path) {
        const std::uint32_t function = path.back().function;
        path.pop_back();
        if (!path.empty()) low_[path.back().function] = std::min(low_[path.back().function], low_[function]);
        if (low_[function] != number_[function]) return;
        std::vector<std::uint32_t>& cycle = members.emplace_back();
        while (cycle.empty() || cycle.back() != function) {
            cycle.push_back(open_.back());
            open_.pop_back();
            cycle_of[cycle.back()] = static_cast<std::uint32_t>(members.size() - 1);
        }
    }

    std::span<const CountedCalls> calls_;
    const CallsOf& of_caller_;

  public:
    std::vector<std::uint32_t> cycle_of;              ///< of each function
    std::vector<std::vector<std::uint32_t>> members;  ///< of each cycle

  private:
    std::vector<std::uint32_t> number_, low_;  // the order in which functions were entered; the first that is reached
    std::vector<std::uint32_t> open_;          // functions that are in no cycle yet
    std::uint32_t entered_ = 0;
};

/// Shares `cost` out. The shares are differences of rounded sums, so they add up to it.
void share(std::uint64_t cost, std::span<CountedCalls* const> calls) {
    __extension__ using Wide = unsigned __int128;
    Wide all = 0, before = 0;
    for (const CountedCalls* each : calls) all += each->count;
    for (CountedCalls* each : calls) {
        const Wide after = before + each->count;
        each->cost = all == 0 ? 0 : static_cast<std::uint64_t>(cost * after / all - cost * before / all);
        before = after;
    }
}

}  // namespace

void share_costs(std::span<const std::uint64_t> self, std::span<CountedCalls> calls) {
    const CallsOf of_caller{calls, self.size(), &CountedCalls::caller};
    const CallsOf of_called{calls, self.size(), &CountedCalls::called};
    const Cycles cycles{calls, of_caller, self.size()};
    std::vector<CountedCalls*> from_outside;
    for (const auto& members : cycles.members) {
        const std::uint32_t cycle = cycles.cycle_of[members.front()];
        std::uint64_t cost = 0;
        from_outside.clear();
        for (const std::uint32_t function : members) {
            cost += self[function];
            for (const std::uint32_t id : of_caller[function])
                if (cycles.cycle_of[calls[id].called] != cycle) cost += calls[id].cost;
            for (const std::uint32_t id : of_called[function]) {
                calls[id].cost = 0;
                if (cycles.cycle_of[calls[id].caller] != cycle) from_outside.push_back(&calls[id]);
            }
        }
        share(cost, from_outside);
    }
}

}  // namespace anyperf::exports
