// gatherer.h: gathers the samples of a recording as raw stacks, and makes the rows of a profile of them. A report reads
// a whole file first (read_profile.h); a live view makes a profile every few seconds while records come, and lets what
// is old weigh less each time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/details.h"
#include "analysis/jit_code.h"
#include "analysis/namer.h"
#include "analysis/processes.h"
#include "analysis/raw_stacks.h"
#include "analysis/read_options.h"
#include "analysis/stack_sums.h"
#include "analysis/tracing/trace_texts.h"
#include "perfdata/reader.h"
#include "profile/profile.h"
#include "symbols/dso.h"

namespace anyperf::analysis {

/// Give it to perfdata::Reader::read(). `options` and `reader` must outlive it.
class Gatherer final : public perfdata::Consumer {
  public:
    Gatherer(const ReadOptions& options, const perfdata::Reader& reader);

    void sample(const perfdata::Sample& sample, std::size_t event) override;
    bool needs_few_fields() const override;
    void record(const perfdata::Record& record) override;
    void user_record(perfdata::RecordType type, perfdata::Bytes, bool) override;

    /// Adds up samples by the names of their stacks in this profile while they are read, so that memory does not depend
    /// on the recording's length. To be called before the first sample, without ReadOptions::times, and not where names
    /// come after samples. add_to() must then have the same profile.
    void sum_in(profile::Profile& profile);

    /// Adds the samples that were gathered to a profile without any: names the nodes of the stacks, and turns those
    /// that have samples into rows. Reads the symbols of files that it has not met before.
    void add_to(profile::Profile& profile);

    /// Gives all samples so far an eighth less weight, as `perf top` does, and forgets those whose weight is 0, with
    /// the processes that have ended. Not for ReadOptions::times.
    void decay();
    /// Forgets all samples, but not the processes and their maps.
    void forget_samples();

  private:
    /// What the samples below a root of the raw stacks have in common.
    struct Root {
        profile::Context context;  // its texts are in strings_
        SpaceId space = 0;
        bool operator==(const Root&) const = default;
    };
    struct RootHash {
        std::size_t operator()(const Root& root) const;
    };
    /// A sample of its own, for ReadOptions::times.
    struct Timed {
        std::uint32_t node, root;
        std::uint64_t time, weight;
    };

    /// The root of the sample's stack. Sets last_root_number_, the index in roots_.
    std::uint32_t root_of(const perfdata::Sample& sample, std::size_t event, profile::DetailId detail);
    /// Adds each branch of the sample, with the branch's target as the stack.
    void add_branches(const perfdata::Sample& sample, std::size_t event);
    void add(std::uint32_t root, const perfdata::Sample& sample, std::uint64_t weight);
    /// Fills frames_ from the call chain and the copied stack.
    void gather_frames(const perfdata::Sample& sample, SpaceId space);
    void gather_user_stack(const perfdata::Sample& sample, SpaceId space);
    /// The profile's stack for each node of the trie.
    std::vector<profile::StackId> name_nodes(profile::Profile& profile, Namer& namer);
    /// Gives the dsos the names that the recording has brought since the last time.
    void use_new_names();
    profile::ContextId add_context(profile::Context context, profile::Profile& profile) const;
    /// The context of a root in the profile of sums_: one for all address spaces.
    profile::ContextId summed_context(std::uint32_t root);
    /// Adds the stacks to sums_.
    void sum();
    /// Keeps the nodes with a weight, and the roots and address spaces that they need.
    void drop_dead_stacks();
    /// Keeps the details that the roots have.
    void drop_dead_details();

    const ReadOptions& options_;
    const perfdata::Reader& reader_;
    profile::Strings strings_;
    symbols::Dsos dsos_;
    Processes processes_;
    JitCodes jit_codes_;
    TraceTexts traces_;
    Details details_;
    RawStacks stacks_;
    std::unique_ptr<StackSums> sums_;                                     // null: the trie keeps all samples
    std::vector<profile::ContextId> summed_contexts_;                     // of the roots, as far as they were needed
    std::unordered_map<Root, profile::ContextId, RootHash> context_ids_;  // of roots in the space 0
    std::vector<Root> roots_;
    std::unordered_map<Root, std::uint32_t, RootHash> root_numbers_;  // indices of roots_
    std::vector<Timed> timed_;
    std::vector<RawFrame> frames_;  // of one sample, from the innermost outwards
    std::vector<std::uint64_t> unwound_, registers_;
    std::vector<std::uint32_t> ended_, ended_before_;  // pids since the last decay(), and since the one before
    std::uint64_t first_ns_ = 0, last_ns_ = 0;
    bool has_new_names_ = false;
    // The root of the last sample, as long as nothing has changed.
    std::uint64_t last_version_ = ~std::uint64_t{0};
    std::array<std::uint32_t, 4> last_task_{};
    std::size_t last_event_ = 0;
    std::uint32_t last_root_ = 0, last_root_number_ = 0;
};

}  // namespace anyperf::analysis
