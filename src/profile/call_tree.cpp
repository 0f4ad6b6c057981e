#include "profile/call_tree.h"

#include <algorithm>

namespace anyperf::profile {

namespace {

/// Whether two locations are one node of the tree: in one function, or the same address.
bool is_same_place(const Profile& profile, LocationId a, LocationId b) {
    if (a == b) return true;
    const FunctionId function = function_of(profile, profile.locations[a]);
    return function != kNone<FunctionId> && function == function_of(profile, profile.locations[b]);
}

/// The child of `from` for this place, added if there is none. A search is enough: a function has few callers. The
/// reference is valid until the next child is added.
Caller& step(const Profile& profile, Caller& from, LocationId place) {
    const auto known = std::ranges::find_if(
        from.callers, [&](const Caller& caller) { return is_same_place(profile, caller.place, place); });
    return known != from.callers.end() ? *known : from.callers.emplace_back(Caller{.place = place});
}

void sort_callers(Caller& caller) {
    std::ranges::stable_sort(caller.callers, std::greater{}, &Caller::weight);
    for (Caller& each : caller.callers) sort_callers(each);
}

}  // namespace

Caller callers_of(const Profile& profile, const Row& row) {
    Caller root{.weight = row.self};
    for (const std::uint32_t index : row.of) {
        const Sample& sample = profile.samples[index];
        Caller* at = &root;
        for (StackId stack = profile.stacks[sample.stack].caller; stack != kNone<StackId>;
             stack = profile.stacks[stack].caller) {
            at = &step(profile, *at, profile.stacks[stack].location);
            at->weight += sample.weight;
        }
    }
    sort_callers(root);
    return root;
}

}  // namespace anyperf::profile
