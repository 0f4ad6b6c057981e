// read_profile.h: from a recording to a profile: follows processes, their maps and names in time order, gathers stacks
// as a trie of addresses, and looks up names once for each different address.
//
// Two passes, of which only the first reads the file. While records come, Gatherer adds each sample to the trie, below
// a root for what the report may sort by (event, comm, pid, tid, CPU) and for the address space. After the last record
// it names the nodes of the trie. So memory depends on the number of different stacks, not of samples, unless
// ReadOptions::times asks for each sample.
#pragma once

#include <optional>
#include <string>

#include "analysis/read_options.h"
#include "anyperf/error.h"
#include "profile/profile.h"

namespace anyperf::analysis {

/// A profile, and the damage that ended or disturbed the reading, if any.
struct ReadProfile {
    profile::Profile profile;
    std::optional<Error> damage;  ///< with the file offset; the profile has what could be read
    bool has_callers = true;      ///< false: no event was recorded with call chains
};

/// Reads a perf.data file, or standard input if `path` is "-". Error: the file cannot be opened, or its header cannot
/// be read, ReadOptions::time has percentages that it does not allow, or the recording lacks what the options need.
/// Damage in its records is no error: the profile has what comes before it.
Result<ReadProfile> read_profile(const std::string& path, const ReadOptions& wanted);

}  // namespace anyperf::analysis
