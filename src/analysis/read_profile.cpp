#include "analysis/read_profile.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "abi/attr_flags.h"
#include "analysis/call_chain.h"
#include "analysis/namer.h"
#include "analysis/processes.h"
#include "analysis/raw_stacks.h"
#include "perfdata/reader.h"
#include "try.h"

namespace anyperf::analysis {

namespace {

using profile::Context;

/// What the samples below a root of the raw stacks have in common.
struct Root {
    Context context;
    SpaceId space = 0;
    bool operator==(const Root&) const = default;
};

/// Gathers the samples of a recording as raw stacks.
class Gatherer final : public perfdata::Consumer {
  public:
    Gatherer(const ReadOptions& options, const perfdata::Reader& reader, profile::Profile& profile)
        : options_(options),
          reader_(reader),
          profile_(profile),
          dsos_(options.paths),
          processes_(profile.strings, dsos_) {
        processes_.use_build_ids(reader.facts().build_ids);
    }

    void sample(const perfdata::Sample& sample, std::size_t event) override;
    void record(const perfdata::Record& record) override { processes_.follow(record); }
    void user_record(perfdata::RecordType type, perfdata::Bytes, bool) override {
        // In pipe mode `perf inject` writes the build ids before the maps that need them.
        if (type == perfdata::RecordType::header_build_id) processes_.use_build_ids(reader_.facts().build_ids);
    }

    /// Makes the rows of the profile: names the nodes, and turns those that have samples into samples.
    void finish();

  private:
    /// The root of the sample's stack. Sets last_root_number_, the index in roots_.
    std::uint32_t root_of(const perfdata::Sample& sample, std::size_t event);
    /// Fills frames_ from the call chain and the copied stack.
    void gather_frames(const perfdata::Sample& sample, SpaceId space);
    void gather_user_stack(const perfdata::Sample& sample, SpaceId space);
    /// The profile's stack for each node of the trie.
    std::vector<profile::StackId> name_nodes();

    /// A sample of its own, for ReadOptions::times.
    struct Timed {
        std::uint32_t node, root;
        std::uint64_t time, weight;
    };

    const ReadOptions& options_;
    const perfdata::Reader& reader_;
    profile::Profile& profile_;
    symbols::Dsos dsos_;
    Processes processes_;
    RawStacks stacks_;
    std::vector<Root> roots_;
    std::vector<Timed> timed_;
    std::vector<RawFrame> frames_;  // of one sample, from the innermost outwards
    std::vector<std::uint64_t> unwound_, registers_;
    // The root of the last sample, as long as nothing has changed.
    std::uint64_t last_version_ = ~std::uint64_t{0};
    std::array<std::uint32_t, 3> last_task_{};
    std::size_t last_event_ = 0;
    std::uint32_t last_root_ = 0, last_root_number_ = 0;
};

// Most samples have the task of the one before, so the root is looked up only if something has changed: another task or
// event, or any record, which may have given the task another name or address space.
std::uint32_t Gatherer::root_of(const perfdata::Sample& sample, std::size_t event) {
    const std::uint32_t cpu = options_.cpu ? sample.cpu : Context::kAny;
    const std::array task{sample.pid, sample.tid, cpu};
    if (processes_.version() == last_version_ && task == last_task_ && event == last_event_) return last_root_;
    const Root root{{.event = {static_cast<std::uint32_t>(event)},
                     .comm = processes_.comm(sample.tid),
                     .pid = options_.pid ? sample.pid : Context::kAny,
                     .tid = options_.tid ? sample.tid : Context::kAny,
                     .cpu = cpu},
                    processes_.space(sample.pid)};
    // Few roots are alive at a time, and the newest are used most.
    const auto found = std::find(roots_.rbegin(), roots_.rend(), root);
    last_root_number_ = static_cast<std::uint32_t>(roots_.rend() - found) - 1;
    if (found == roots_.rend()) {
        last_root_number_ = static_cast<std::uint32_t>(roots_.size());
        roots_.push_back(root);
    }
    last_version_ = processes_.version();
    last_task_ = task;
    last_event_ = event;
    return last_root_ = stacks_.root(last_root_number_);
}

// A trie shares callers, so it grows from the outermost frame inwards, whereas a sample has the innermost frame first.
void Gatherer::sample(const perfdata::Sample& sample, std::size_t event) {
    const std::uint32_t root = root_of(sample, event);
    frames_.clear();
    if (options_.call_chains) gather_frames(sample, roots_[last_root_number_].space);
    const RawFrame own{sample.ip, mode_of(sample.misc)};
    // With precise events the chain begins at the interrupt, after the instruction that is meant.
    if (frames_.empty())
        frames_.push_back(own);
    else
        frames_.front() = own;
    std::ranges::reverse(frames_);
    const std::uint32_t node = stacks_.add(root, frames_, sample.period);
    if (options_.times) timed_.push_back({node, last_root_number_, sample.time, sample.period});
    profile::Recording& recording = profile_.recording;
    if (recording.first_ns == 0 || sample.time < recording.first_ns) recording.first_ns = sample.time;
    recording.last_ns = std::max(recording.last_ns, sample.time);
}

// With `--call-graph dwarf` the call chain has the kernel's frames only, and the copied stack gives the user's.
void Gatherer::gather_frames(const perfdata::Sample& sample, SpaceId space) {
    const std::uint64_t branches = reader_.events()[last_event_].attr.branch_sample_type;
    if (!for_each_frame(sample, branches, [this](RawFrame frame) { frames_.push_back(frame); })) frames_.clear();
    if (options_.unwinder && sample.user_abi != 0 && !sample.user_stack.empty()) gather_user_stack(sample, space);
}

// The unwinder returns return addresses already moved back into their calls. Its frames come after the kernel's, since
// the kernel was called from the innermost of them.
void Gatherer::gather_user_stack(const perfdata::Sample& sample, SpaceId space) {
    registers_.clear();
    for (std::size_t i = 0; i < sample.user_registers.size(); ++i) registers_.push_back(sample.user_registers[i]);
    unwound_.clear();
    const std::uint64_t mask = reader_.events()[last_event_].attr.sample_regs_user;
    options_.unwinder->unwind(processes_[space], {sample.user_abi, mask, registers_, sample.user_stack}, unwound_);
    for (const std::uint64_t address : unwound_) frames_.push_back({address, RawFrame::user});
}

// A parent comes before its children in the trie, so ids[node.parent] is always known. Roots themselves are no stacks:
// they become contexts.
std::vector<profile::StackId> Gatherer::name_nodes() {
    Namer namer{profile_, processes_, dsos_, options_.source};
    const std::vector<RawStacks::Node>& nodes = stacks_.nodes();
    std::vector<bool> calls(nodes.size());
    for (const RawStacks::Node& node : nodes)
        if (node.parent != RawStacks::kRoot) calls[node.parent] = true;
    std::vector<profile::StackId> ids(nodes.size(), profile::kNone<profile::StackId>);
    std::vector<std::uint32_t> roots(nodes.size());  // the number of each node's root
    profile_.stacks.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const RawStacks::Node& node = nodes[i];
        if (node.parent == RawStacks::kRoot) {
            roots[i] = static_cast<std::uint32_t>(node.address);
            continue;
        }
        roots[i] = roots[node.parent];
        const profile::LocationId location =
            namer.location(roots_[roots[i]].space, {node.address, node.mode}, calls[i] && node.count == 0);
        ids[i] = profile_.stacks.add({ids[node.parent], location});
        if (node.count == 0 || options_.times) continue;
        profile_.samples.push_back({ids[i], {roots[i]}, node.count, node.weight, 0});
    }
    return ids;
}

void Gatherer::finish() {
    // The contexts of the profile have the numbers of the roots.
    for (const Root& root : roots_) profile_.contexts.add(root.context);
    const std::vector<profile::StackId> ids = name_nodes();
    for (const Timed& each : timed_)
        profile_.samples.push_back({ids[each.node], {each.root}, 1, each.weight, each.time});
}

void describe_recording(const std::string& path, const perfdata::Facts& facts, profile::Recording& recording) {
    recording.path = path;
    recording.host = facts.host;
    recording.release = facts.release;
    recording.version = facts.version;
    recording.arch = facts.arch;
    recording.cpu = facts.cpu;
    recording.cpu_id = facts.cpu_id;
    for (const std::string& word : facts.command_line)
        recording.command_line += (recording.command_line.empty() ? "" : " ") + word;
    recording.cpus_online = facts.cpus_online;
    recording.memory_kib = facts.memory_kib;
    recording.wall_clock_ns = facts.wall_clock_ns;
    recording.clock_ns = facts.clock_ns;
}

void describe_events(const perfdata::Reader& reader, profile::Profile& profile) {
    for (const perfdata::EventInfo& event : reader.events()) {
        const bool frequency = (event.attr.flags & abi::flag("freq")) != 0;
        profile.events.add({.name = event.name,
                            .unit = event.unit,
                            .period = frequency ? 0 : event.attr.sample_period,
                            .frequency = frequency ? event.attr.sample_period : 0});
    }
    // The section is as the file has it: a leader may be no event, and groups may overlap.
    for (const perfdata::Group& group : reader.facts().groups)
        for (std::uint64_t i = group.leader; i < profile.events.size() && i - group.leader < group.members; ++i)
            profile.events[{static_cast<std::uint32_t>(i)}].leader = group.leader;
}

}  // namespace

Result<ReadProfile> read_profile(const std::string& path, const ReadOptions& options) {
    perfdata::Reader reader = TRY(perfdata::Reader::open(path));
    ReadProfile result;
    Gatherer gatherer{options, reader, result.profile};
    const perfdata::Summary summary = reader.read(gatherer);
    describe_recording(path, reader.facts(), result.profile.recording);
    describe_events(reader, result.profile);
    result.profile.recording.lost = summary.lost;
    result.profile.recording.skipped = summary.damaged_samples + summary.unknown_ids + summary.unknown_types;
    gatherer.finish();
    result.damage = summary.damage;
    return result;
}

}  // namespace anyperf::analysis
