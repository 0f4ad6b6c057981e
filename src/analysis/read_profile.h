// read_profile.h: from a recording to a profile: follows processes, their maps and names in time order, gathers stacks
// as a trie of addresses, and looks up names once for each different address.
#pragma once

#include <optional>
#include <string>

#include "analysis/namer.h"
#include "anyperf/error.h"
#include "profile/profile.h"
#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"

namespace anyperf::analysis {

struct ReadOptions {
    bool call_chains = true;  ///< false: a stack is the sample's own address only
    bool pid = false;         ///< keep the process of each sample,
    bool tid = false;         ///< its thread,
    bool cpu = false;         ///< its CPU,
    SourceOptions source{};   ///< what is asked of DWARF
    bool times = false;       ///< and each sample as a row of its own, in time order
    symbols::SymbolPaths paths;
    symbols::StackUnwinder* unwinder = nullptr;  ///< null: a copied stack gives the sample's own address only
};

/// A profile, and the damage that ended or disturbed the reading, if any.
struct ReadProfile {
    profile::Profile profile;
    std::optional<Error> damage;  ///< with the file offset; the profile has what could be read
};

/// Reads a perf.data file, or standard input if `path` is "-". Fails if nothing can be read.
Result<ReadProfile> read_profile(const std::string& path, const ReadOptions& options);

}  // namespace anyperf::analysis
