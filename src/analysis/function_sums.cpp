#include "analysis/function_sums.h"

namespace anyperf::analysis {

profile::StackId FunctionSums::stack_of(profile::LocationId location) {
    if (location.value >= stacks_.size()) stacks_.resize(profile_.locations.size(), profile::kNone<profile::StackId>);
    profile::StackId& stack = stacks_[location.value];
    if (stack == profile::kNone<profile::StackId>)
        stack = profile_.stacks.add({profile::kNone<profile::StackId>, location});
    return stack;
}

void FunctionSums::add(const RawStacks::Nodes& nodes, const std::function<SpaceId(std::uint32_t)>& space_of) {
    namer_.forget_map();
    for (const RawStacks::Node& node : nodes) {
        if (node.parent == RawStacks::kRoot) continue;
        const auto root = static_cast<std::uint32_t>(nodes[node.parent].address);
        const profile::LocationId location = namer_.location(space_of(root), {node.address, node.mode}, false);
        const auto [row, fresh] = rows_.try_emplace({location.value, root, 0});
        if (fresh) {
            const profile::StackId stack = stack_of(location);
            row.value = static_cast<std::uint32_t>(profile_.samples.size());
            profile_.samples.push_back({stack, {root}, 0, 0, 0});
        }
        profile::Sample& sum = profile_.samples[row.value];
        sum.count += node.count;
        sum.weight += node.weight;
    }
}

}  // namespace anyperf::analysis
