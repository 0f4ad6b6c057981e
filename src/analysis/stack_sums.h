// stack_sums.h: the samples of a recording added up by the names of their stacks while it is read, so that memory
// depends on what is shown and not on the recording's length.
//
// The trie of raw addresses (raw_stacks.h) has the same stacks again for each process, because each is mapped
// elsewhere. A recording has ten addresses for each of its functions, and a hundred if its code is large. So when the
// trie has many nodes its stacks are named, their samples are added to those of the same names, and a new trie begins.
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

class StackSums {
  public:
    /// The profile gets a sample for each stack and context, and what they need. `addresses` as of Namer.
    StackSums(profile::Profile& profile, const Processes& processes, symbols::Dsos& dsos, SourceOptions source,
              bool addresses)
        : profile_(profile),
          namer_(profile, processes, dsos, source, addresses),
          most_nodes_(addresses ? kMostNodes : kMostLoneNodes) {}

    profile::Profile& profile() { return profile_; }
    Namer& namer() { return namer_; }
    /// When the stacks of a trie should be added.
    bool is_full(const RawStacks& stacks) const { return stacks.size() >= most_nodes_; }

    /// What the samples below a root of the trie have in common, and where their addresses are valid. Roots of several
    /// processes may have one context, and then share their sums.
    struct Root {
        profile::ContextId context;
        SpaceId space;
    };
    /// Adds stacks below roots whose address is their number, which `root_of` knows. The first sample of a stack
    /// decides its place.
    void add(const RawStacks::Nodes& nodes, const std::function<Root(std::uint32_t)>& root_of);

  private:
    /// Functions without callers and addresses: a trie that fits into a cache of the second level. Of others some
    /// 80 MB, since a node that is met again after it was named costs as much as a new one.
    static constexpr std::size_t kMostLoneNodes = 1 << 16, kMostNodes = 1 << 21;

    profile::StackId stack_of(profile::StackId caller, profile::LocationId location);

    profile::Profile& profile_;
    Namer namer_;
    std::size_t most_nodes_;
    std::vector<profile::StackId> outermost_;  // of each location, as far as they are known
    AddressMap<profile::StackId> called_;      // of a caller's stack and a location
    AddressMap<profile::StackId> rows_;        // of a stack and a context: an index of the samples
};

}  // namespace anyperf::analysis
