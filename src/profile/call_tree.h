// call_tree.h: the callers of a row of a report, as a tree from the row outwards. The root is the row, its children are
// the functions that called it, and so on up to main() or the start of a thread.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "profile/rows.h"

namespace anyperf::profile {

/// What callers have in common that are one node.
enum class CallKey : std::uint8_t {
    function,    ///< their function; without a symbol their address
    address,     ///< their address
    source_line  ///< their source line; without one their address
};

/// A function among the callers, or one of its addresses or lines. Children are its own callers, the heaviest first.
struct Caller {
    LocationId place = kNone<LocationId>;  ///< one of the node's locations
    FrameIndex frame = kSymbolFrame;       ///< which function there
    std::uint64_t weight = 0;              ///< of the samples that came this way
    std::uint64_t samples = 0;             ///< and their number
    std::vector<Caller> callers{};
};

/// The callers of the samples of a row (Row::sample_indices), merged by `key`. The root is the row itself; its
/// `place` is kNone. If functions were inlined at a sample's own address, its path from the root begins with them,
/// innermost first, and with the function that they were inlined into. The weights of a node's callers add up to at
/// most its own: a sample whose stack ends at the node has no further caller. The row must be from sum_up() with
/// RowOptions::keep_samples.
Caller callers_of(const Profile& profile, const Row& row, CallKey key = CallKey::function);

/// The direction of a tree of calls.
enum class CallOrder : std::uint8_t {
    callee,  ///< from the function with the samples outwards
    caller   ///< from the outermost function inwards
};

/// The stacks of a row as perf's reports show them: the children of the root are where they begin. In the order
/// `callee` that is the row itself; in the order `caller` the outermost functions of samples that end at the row, and
/// the row itself for samples that go on from it (Row::passages). The row must be from sum_up() with
/// RowOptions::keep_samples.
Caller stacks_of(const Profile& profile, const Row& row, CallOrder order, CallKey key = CallKey::function);

}  // namespace anyperf::profile
