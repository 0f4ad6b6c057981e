// raw_stacks.h: the stacks of a recording as a trie of addresses, outermost frame first. Names are looked up for its
// nodes, of which there are a hundred times fewer than frames in the samples.
//
// A recording with call chains has millions of frames, and most of them are main() and what it calls. The trie keeps
// each path once. It is a vector of nodes that know their parents, and one hash table from (parent, frame) to the
// child: nodes need no lists of children, and the table is one array. A parent always comes before its children, so a
// pass over nodes() in order meets each stack from the outermost frame on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "large_memory.h"

namespace anyperf::analysis {

/// An address and where it is valid.
struct RawFrame {
    enum Mode : std::uint32_t { user, kernel, other };  // other: a hypervisor or a guest

    std::uint64_t address = 0;
    Mode mode = user;

    bool operator==(const RawFrame&) const = default;
};

/// Nodes are named by their index, which never changes. No node is removed.
class RawStacks {
  public:
    /// The parent of roots. No node has this index.
    static constexpr std::uint32_t kRoot = 0xffff'ffffu;

    /// A node, 24 bytes with its weights. A root has no parent; its address is what the caller has given it.
    struct Node {
        std::uint64_t address = 0;
        std::uint32_t parent = kRoot;
        RawFrame::Mode mode = RawFrame::user;
        std::uint64_t count = 0;   // samples that end here
        std::uint64_t weight = 0;  // sum of their periods
    };

    RawStacks();

    /// The root with this number.
    std::uint32_t root(std::uint64_t number) { return child(kRoot, {number, RawFrame::user}); }

    /// Adds a sample below `root` and returns its node. Most of a stack is that of the sample before: only what differs
    /// is looked up.
    std::uint32_t add(std::uint32_t root, std::span<const RawFrame> outermost_first, std::uint64_t weight);

    /// Adds a sample of one frame below `root`, together with those that follow: the memory of several nodes is fetched
    /// at once. A report without call chains spends most of its time waiting for that memory.
    void add_lone(std::uint32_t root, RawFrame frame, std::uint64_t weight);

    using Nodes = std::vector<Node, LargeAllocator<Node>>;
    const Nodes& nodes() {
        finish_lone();
        return nodes_;
    }
    /// How many there are, without the last few of add_lone().
    std::size_t size() const { return nodes_.size(); }
    /// Removes all nodes, and keeps their memory.
    void clear();

    /// Takes an eighth off each node's weight and count. A node has a count of at least 1 as long as it has a weight.
    void weaken();
    /// A copy of those nodes that have a weight, or a node with a weight below them. `renumber` is called with the
    /// number of each root of the copy, in their order, and returns its number there.
    RawStacks without_dead(const std::function<std::uint64_t(std::uint64_t)>& renumber);

  private:
    /// A sample of add_lone() that was not added yet.
    struct Lone {
        RawFrame frame;
        std::uint32_t root;
        std::uint64_t weight;
    };
    void finish_lone();
    /// The child of `parent` with this frame; a new one if there is none yet.
    std::uint32_t child(std::uint32_t parent, RawFrame frame);
    /// Doubles the hash table, which is kept at most half full.
    void grow();

    Nodes nodes_;
    std::vector<std::uint32_t, LargeAllocator<std::uint32_t>>
        slots_;                             // open addressing: indices of nodes; kRoot is a free slot
    std::vector<RawFrame> last_frames_;     // of the last sample that was added,
    std::vector<std::uint32_t> last_path_;  // the node of each of them,
    std::uint32_t last_root_ = kRoot;       // and its root
    std::array<Lone, 16> lone_{};
    std::size_t lone_count_ = 0;
};

/// Calls visit(index, node, root, calls_only) for each node that is no root, with the number of its root, which is that
/// one's address. A parent comes before its children, so what is known of it can be used. `calls_only`: the node has no
/// samples of its own.
template <class Visit>
void for_each_frame(const RawStacks::Nodes& nodes, Visit&& visit) {
    std::vector<bool> calls(nodes.size());
    for (const RawStacks::Node& node : nodes)
        if (node.parent != RawStacks::kRoot) calls[node.parent] = true;
    std::vector<std::uint32_t> roots(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const RawStacks::Node& node = nodes[i];
        const bool is_root = node.parent == RawStacks::kRoot;
        roots[i] = is_root ? static_cast<std::uint32_t>(node.address) : roots[node.parent];
        if (!is_root) visit(i, node, roots[i], calls[i] && node.count == 0);
    }
}

}  // namespace anyperf::analysis
