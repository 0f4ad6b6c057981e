// details.h: what is kept of a recording's samples beyond their tasks and stacks: as much as a report has keys for.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/namer.h"
#include "analysis/processes.h"
#include "analysis/read_options.h"
#include "analysis/tracing/trace_texts.h"
#include "perfdata/reader.h"
#include "profile/profile.h"
#include "profile/strings.h"

namespace anyperf::analysis {

class Details {
  public:
    /// The arguments must outlive it.
    Details(const ReadOptions& options, TraceTexts& traces, Processes& processes)
        : options_(options), traces_(traces), processes_(processes) {}

    /// The detail of a sample; kNone if nothing is asked for.
    profile::DetailId of(const perfdata::Sample& sample, std::size_t event);

    /// The detail of a branch: its addresses are those of the process with that space, or of the kernel.
    profile::DetailId of_branch(SpaceId space, std::uint64_t from, std::uint64_t to, std::uint64_t flags);

    /// Adds all details to a profile, with the same ids.
    void add_to(profile::Profile& profile, Namer& namer) const;

    /// Forgets the details that are not `used`, by their ids, and their texts. Returns the new ids by the old ones.
    std::vector<profile::DetailId> keep_only(const std::vector<bool>& used);
    std::size_t size() const { return all_.size(); }

  private:
    struct Raw {
        profile::Detail detail;  // its text is in texts_; without locations
        SpaceId space = 0;       // of the branch, or of the data
        std::uint64_t from = 0, to = 0;
        bool is_branch = false, has_data = false;
        bool operator==(const Raw&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Raw& raw) const;
    };

    profile::DetailId id_of(const Raw& raw);
    void add_place_of_data(profile::Detail& detail, SpaceId space, Namer& namer) const;
    bool wants_trace() const;

    const ReadOptions& options_;
    TraceTexts& traces_;
    Processes& processes_;
    profile::Strings texts_;  // of traces: its own, so that they can be forgotten
    std::vector<Raw> all_;
    std::unordered_map<Raw, std::uint32_t, Hash> numbers_;
    std::string trace_;  // of one sample
};

}  // namespace anyperf::analysis
