#include "analysis/stack_sums.h"

namespace anyperf::analysis {

profile::StackId StackSums::stack_of(profile::StackId caller, profile::LocationId location) {
    constexpr auto kNone = profile::kNone<profile::StackId>;
    if (caller != kNone) {
        const auto [stack, fresh] = called_.try_emplace({caller.value, location.value, 0});
        if (fresh) stack = profile_.stacks.add({caller, location});
        return stack;
    }
    if (location.value >= outermost_.size()) outermost_.resize(profile_.locations.size(), kNone);
    profile::StackId& stack = outermost_[location.value];
    if (stack == kNone) stack = profile_.stacks.add({kNone, location});
    return stack;
}

void StackSums::add(const RawStacks::Nodes& nodes, const std::function<Root(std::uint32_t)>& root_of) {
    namer_.forget_map();
    std::vector<profile::StackId> stacks(nodes.size(), profile::kNone<profile::StackId>);  // roots are none
    for_each_frame(nodes, [&](std::size_t i, const RawStacks::Node& node, std::uint32_t number, bool calls_only) {
        const Root root = root_of(number);
        stacks[i] = stack_of(stacks[node.parent], namer_.location(root.space, {node.address, node.mode}, calls_only));
        if (node.count == 0) return;
        const auto [row, fresh] = rows_.try_emplace({stacks[i].value, root.context.value, 0});
        if (fresh) {
            row.value = static_cast<std::uint32_t>(profile_.samples.size());
            profile_.samples.push_back({stacks[i], root.context, 0, 0, 0});
        }
        profile::Sample& sum = profile_.samples[row.value];
        sum.count += node.count;
        sum.weight += node.weight;
    });
}

}  // namespace anyperf::analysis
