// function_sums.h: the samples of a recording added up by function, for reports whose rows have no addresses.
//
// A recording has ten addresses for each of its functions, a hundred if its code is large, and again as many for each
// process, because each process is mapped elsewhere. So a trie of all addresses would be larger than the recording's
// symbol tables and its rows together. Such a report names the addresses whenever the trie has kMostNodes of them, adds
// their samples to those of their functions, and begins a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/address_map.h"
#include "analysis/namer.h"
#include "analysis/processes.h"
#include "analysis/raw_stacks.h"
#include "profile/profile.h"

namespace anyperf::analysis {

class FunctionSums {
  public:
    /// A trie that fits into a cache of the second level.
    static constexpr std::size_t kMostNodes = 1 << 16;

    /// The profile gets a sample for each function and root, a stack for each function, and what they need.
    FunctionSums(profile::Profile& profile, const Processes& processes, symbols::Dsos& dsos, SourceOptions source)
        : profile_(profile), namer_(profile, processes, dsos, source, false) {}

    Namer& namer() { return namer_; }

    /// Adds stacks of one frame below roots whose address is their number. `space_of` says where a root's addresses are
    /// valid. The function's first sample decides its place, as it would in a table of the addresses.
    void add(const RawStacks::Nodes& nodes, const std::function<SpaceId(std::uint32_t)>& space_of);

  private:
    profile::StackId stack_of(profile::LocationId location);

    profile::Profile& profile_;
    Namer namer_;
    std::vector<profile::StackId> stacks_;  // of each location, as far as they are known
    AddressMap<profile::StackId> rows_;     // of a location and a root: an index of the samples
};

}  // namespace anyperf::analysis
