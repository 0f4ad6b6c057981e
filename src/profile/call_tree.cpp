#include "profile/call_tree.h"

#include <algorithm>

namespace anyperf::profile {

namespace {

/// The source line of a frame as a number.
std::uint64_t line_of(const Profile& profile, LocationId place, FrameIndex frame) {
    const auto outermost = static_cast<FrameIndex>(std::max<FrameIndex>(profile.locations[place].frame_count, 1) - 1);
    return key_value(profile, Key::source_line, {}, place, frame, std::min(frame, outermost));
}

/// Whether `node` is for this frame.
bool is_at(const Profile& profile, const Caller& node, LocationId place, FrameIndex frame, CallKey key) {
    if (key == CallKey::address) return node.place == place && node.frame == frame;
    if (key == CallKey::source_line) return line_of(profile, node.place, node.frame) == line_of(profile, place, frame);
    const FunctionId function = function_of(profile, profile.locations[place], frame);
    if (function == kNone<FunctionId>) return node.place == place;
    return function == function_of(profile, profile.locations[node.place], node.frame);
}

/// The child of `from` for this place, added if there is none. A linear search is fast enough: a function has few
/// callers. The reference is valid until the next child is added.
Caller& step(const Profile& profile, Caller& from, LocationId place, FrameIndex frame, CallKey key) {
    const auto known = std::ranges::find_if(
        from.callers, [&](const Caller& caller) { return is_at(profile, caller, place, frame, key); });
    return known != from.callers.end() ? *known : from.callers.emplace_back(Caller{.place = place, .frame = frame});
}

/// Descends through the functions that are active at a location, innermost first, and adds the weight to each.
Caller* step_over(const Profile& profile, Caller* at, LocationId place, std::uint64_t weight, CallKey key) {
    const auto frames = std::max<FrameIndex>(profile.locations[place].frame_count, 1);
    for (FrameIndex i = 0; i < frames; ++i) {
        at = &step(profile, *at, place, i + 1 == frames ? kSymbolFrame : i, key);
        at->weight += weight;
    }
    return at;
}

/// One function of a stack.
struct PathStep {
    LocationId place;
    FrameIndex frame;
};

/// The functions of a stack from `from` outwards; at its own location from the function `frame` on.
void append_outwards(const Profile& profile, StackId from, FrameIndex frame, std::vector<PathStep>& path) {
    for (StackId at = from; at != kNone<StackId>; at = profile.stacks[at].caller, frame = 0) {
        const LocationId place = profile.stacks[at].location;
        const auto frames = std::max<FrameIndex>(profile.locations[place].frame_count, 1);
        for (FrameIndex i = frame; i < frames; ++i) path.push_back({place, i + 1 == frames ? kSymbolFrame : i});
    }
}

void add_path(const Profile& profile, Caller& root, const std::vector<PathStep>& path, const Sample& sample,
              CallKey key) {
    Caller* at = &root;
    for (const PathStep& each : path) {
        at = &step(profile, *at, each.place, each.frame, key);
        at->weight += sample.weight;
        at->samples += sample.count;
    }
}

void sort_callers(Caller& caller) {
    std::ranges::stable_sort(caller.callers, std::greater{}, &Caller::weight);
    for (Caller& each : caller.callers) sort_callers(each);
}

}  // namespace

Caller callers_of(const Profile& profile, const Row& row, CallKey key) {
    Caller root{.weight = row.self};
    for (const std::uint32_t index : row.sample_indices) {
        const Sample& sample = profile.samples[index];
        Caller* at = &root;
        const LocationId own = profile.stacks[sample.stack].location;
        if (profile.locations[own].frame_count > 1) at = step_over(profile, at, own, sample.weight, key);
        for (StackId stack = profile.stacks[sample.stack].caller; stack != kNone<StackId>;
             stack = profile.stacks[stack].caller)
            at = step_over(profile, at, profile.stacks[stack].location, sample.weight, key);
    }
    sort_callers(root);
    return root;
}

// A path inwards from a passage is that of the whole sample without what is outside of the passage.
Caller stacks_of(const Profile& profile, const Row& row, CallOrder order, CallKey key) {
    Caller root{.weight = row.self + (row.passages.empty() ? 0 : row.total - row.self), .samples = row.samples};
    std::vector<PathStep> path, outside;
    const auto add = [&](const Sample& sample) {
        if (order == CallOrder::caller) std::ranges::reverse(path);
        add_path(profile, root, path, sample, key);
        path.clear();
    };
    for (const std::uint32_t index : row.sample_indices) {
        append_outwards(profile, profile.samples[index].stack, 0, path);
        add(profile.samples[index]);
    }
    for (const Passage& each : row.passages) {
        const Sample& sample = profile.samples[each.sample];
        append_outwards(profile, order == CallOrder::caller ? sample.stack : each.stack,
                        order == CallOrder::caller ? FrameIndex{0} : each.frame, path);
        if (order == CallOrder::caller) {
            outside.clear();
            append_outwards(profile, each.stack, each.frame, outside);
            path.resize(path.size() - outside.size() + 1);
        }
        add(sample);
    }
    sort_callers(root);
    return root;
}

}  // namespace anyperf::profile
