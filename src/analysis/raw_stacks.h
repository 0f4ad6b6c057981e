// raw_stacks.h: the stacks of a recording as a trie of addresses, outermost frame first. Names are looked up for its
// nodes, of which there are a hundred times fewer than frames in the samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anyperf::analysis {

/// An address and where it is valid.
struct RawFrame {
    enum Mode : std::uint32_t { user, kernel, other };  // other: a hypervisor or a guest

    std::uint64_t address = 0;
    Mode mode = user;

    bool operator==(const RawFrame&) const = default;
};

class RawStacks {
  public:
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

    const std::vector<Node>& nodes() const { return nodes_; }

  private:
    std::uint32_t child(std::uint32_t parent, RawFrame frame);
    void grow();

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> slots_;  // open addressing
    std::vector<RawFrame> last_frames_;
    std::vector<std::uint32_t> last_path_;
    std::uint32_t last_root_ = kRoot;
};

}  // namespace anyperf::analysis
