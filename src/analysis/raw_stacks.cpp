// raw_stacks.cpp: the trie of addresses. Consecutive samples of a program share most of their callers, so add() keeps
// the path of the last stack and begins where the new one differs from it. Only the rest is looked up in the hash
// table.
#include "analysis/raw_stacks.h"

#include <algorithm>
#include <utility>

namespace anyperf::analysis {

namespace {

constexpr std::size_t kFirstSlots = 1 << 12;  // a power of two

// Multiplications by odd constants with well mixed bits (those of MurmurHash3's finaliser).
std::uint64_t mixed(std::uint32_t parent, std::uint64_t address, std::uint32_t mode) {
    const std::uint64_t bits =
        (parent + 0x9e37'79b9'7f4a'7c15u + mode) * 0xff51'afd7'ed55'8ccdu ^ address * 0xc4ce'b9fe'1a85'ec53u;
    return bits ^ bits >> 29;
}

}  // namespace

RawStacks::RawStacks() : slots_(kFirstSlots, kRoot) {}

std::uint32_t RawStacks::child(std::uint32_t parent, RawFrame frame) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mixed(parent, frame.address, frame.mode) & mask;
    for (; slots_[at] != kRoot; at = (at + 1) & mask) {
        const Node& node = nodes_[slots_[at]];
        if (node.parent == parent && node.address == frame.address && node.mode == frame.mode) return slots_[at];
    }
    const auto id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({frame.address, parent, frame.mode});
    slots_[at] = id;
    if (nodes_.size() * 2 > slots_.size()) grow();
    return id;
}

void RawStacks::grow() {
    slots_.assign(slots_.size() * 2, kRoot);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < nodes_.size(); ++id) {
        std::size_t at = mixed(nodes_[id].parent, nodes_[id].address, nodes_[id].mode) & mask;
        while (slots_[at] != kRoot) at = (at + 1) & mask;
        slots_[at] = id;
    }
}

std::uint32_t RawStacks::add(std::uint32_t root, std::span<const RawFrame> frames, std::uint64_t weight) {
    finish_lone();
    std::size_t same = 0;
    if (root == last_root_) {
        const std::size_t most = std::min(frames.size(), last_frames_.size());
        while (same < most && frames[same] == last_frames_[same]) ++same;
    }
    last_root_ = root;
    last_frames_.resize(frames.size());
    last_path_.resize(frames.size());
    std::uint32_t at = same == 0 ? root : last_path_[same - 1];
    for (std::size_t i = same; i < frames.size(); ++i) {
        last_path_[i] = at = child(at, frames[i]);
        last_frames_[i] = frames[i];
    }
    ++nodes_[at].count;
    nodes_[at].weight += weight;
    return at;
}

void RawStacks::add_lone(std::uint32_t root, RawFrame frame, std::uint64_t weight) {
    __builtin_prefetch(&slots_[mixed(root, frame.address, frame.mode) & (slots_.size() - 1)]);
    lone_[lone_count_++] = {frame, root, weight};
    if (lone_count_ == lone_.size()) finish_lone();
}

void RawStacks::finish_lone() {
    const std::span<const Lone> lone = std::span{lone_}.first(std::exchange(lone_count_, 0));
    for (const Lone& each : lone) {
        const std::uint32_t slot = slots_[mixed(each.root, each.frame.address, each.frame.mode) & (slots_.size() - 1)];
        if (slot != kRoot) __builtin_prefetch(&nodes_[slot], 1);
    }
    for (const Lone& each : lone) {
        Node& node = nodes_[child(each.root, each.frame)];
        ++node.count;
        node.weight += each.weight;
    }
}

void RawStacks::clear() {
    finish_lone();
    nodes_.clear();
    std::ranges::fill(slots_, kRoot);
    last_root_ = kRoot;
}

void RawStacks::weaken() {
    finish_lone();
    for (Node& node : nodes_) {
        node.weight = node.weight / 8 * 7 + node.weight % 8 * 7 / 8;
        node.count = node.weight == 0 ? 0 : (node.count * 7 + 7) / 8;
    }
}

// Parents come before their children: a pass from the end marks what is alive, one from the begin copies it.
RawStacks RawStacks::without_dead(const std::function<std::uint64_t(std::uint64_t)>& renumber) {
    finish_lone();
    std::vector<bool> alive(nodes_.size());
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        if (nodes_[i].weight > 0) alive[i] = true;
        if (alive[i] && nodes_[i].parent != kRoot) alive[nodes_[i].parent] = true;
    }
    RawStacks copy;
    std::vector<std::uint32_t> now(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!alive[i]) continue;
        const Node& node = nodes_[i];
        now[i] = node.parent == kRoot ? copy.root(renumber(node.address))
                                      : copy.child(now[node.parent], {node.address, node.mode});
        copy.nodes_[now[i]].count = node.count;
        copy.nodes_[now[i]].weight = node.weight;
    }
    return copy;
}

}  // namespace anyperf::analysis
