#include "analysis/gatherer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/call_chain.h"
#include "analysis/interpreter_frames.h"
#include "analysis/recorded_names.h"
#include "perfdata/side_band.h"
#include "perfdata/simpleperf.h"

namespace anyperf::analysis {

using profile::Context;

Gatherer::Gatherer(const ReadOptions& options, const perfdata::Reader& reader)
    : options_(options),
      reader_(reader),
      dsos_(options.paths),
      processes_(strings_, dsos_),
      jit_codes_(reader, processes_, dsos_),
      traces_(reader, processes_, dsos_),
      details_(options, traces_, processes_) {
    processes_.use_build_ids(reader.facts().build_ids);
    use_recorded_names(reader.facts(), dsos_);
}

bool Gatherer::needs_few_fields() const {
    return !options_.call_chains && !options_.branches && !options_.by_weight && options_.parts.none();
}

void Gatherer::record(const perfdata::Record& record) {
    processes_.follow(record);
    jit_codes_.follow(record);
    if (record.type != perfdata::RecordType::exit) return;
    if (const auto task = perfdata::read_task(record.bytes); task && task->pid == task->tid)
        ended_.push_back(task->pid);
}

// In pipe mode `perf inject` writes the build ids before the maps that need them.
void Gatherer::user_record(perfdata::RecordType type, perfdata::Bytes, bool) {
    if (type == perfdata::RecordType::header_build_id) processes_.use_build_ids(reader_.facts().build_ids);
    if (perfdata::is_simpleperf(type)) has_new_names_ = true;
}

std::size_t Gatherer::RootHash::operator()(const Root& root) const {
    const Context& context = root.context;
    std::uint64_t bits = 0;
    for (const std::uint32_t each : {context.event.value, context.comm.value, context.pid, context.tid, context.cpu,
                                     context.detail.value, root.space})
        bits = (bits ^ each) * 0x9e37'79b9'7f4a'7c15u ^ bits >> 29;
    return bits ^ bits >> 32;
}

// Most samples have the task of the one before, so the root is looked up only if something has changed: another task or
// event, or any record, which may have given the task another name or address space.
std::uint32_t Gatherer::root_of(const perfdata::Sample& sample, std::size_t event, profile::DetailId detail) {
    const std::uint32_t cpu = options_.cpu ? sample.cpu : Context::kAny;
    const std::array task{sample.pid, sample.tid, cpu, detail.value};
    if (processes_.version() == last_version_ && task == last_task_ && event == last_event_) return last_root_;
    const Root root{{.event = {static_cast<std::uint32_t>(event)},
                     .comm = processes_.comm(sample.tid),
                     .pid = options_.pid ? sample.pid : Context::kAny,
                     .tid = options_.tid ? sample.tid : Context::kAny,
                     .cpu = cpu,
                     .detail = detail},
                    processes_.space(sample.pid)};
    const auto [found, fresh] = root_numbers_.try_emplace(root, static_cast<std::uint32_t>(roots_.size()));
    if (fresh) roots_.push_back(root);
    last_root_number_ = found->second;
    last_version_ = processes_.version();
    last_task_ = task;
    last_event_ = event;
    return last_root_ = stacks_.root(last_root_number_);
}

// A trie shares callers, so it grows from the outermost frame inwards, whereas a sample has the innermost frame first.
void Gatherer::sample(const perfdata::Sample& recorded, std::size_t event) {
    if (!options_.reads(recorded.time, recorded.cpu)) return;
    const perfdata::Sample& sample = jit_codes_.replaced(recorded);
    if (options_.branches) return add_branches(sample, event);
    const std::uint32_t root = root_of(sample, event, details_.of(recorded, event));
    frames_.clear();
    if (options_.call_chains) gather_frames(sample, roots_[last_root_number_].space);
    const RawFrame own{sample.ip, mode_of(sample.misc)};
    // With precise events the chain begins at the interrupt, after the instruction that is meant.
    if (frames_.empty())
        frames_.push_back(own);
    else
        frames_.front() = own;
    if (options_.no_interpreter) remove_interpreter(processes_, roots_[last_root_number_].space, frames_);
    std::ranges::reverse(frames_);
    // perf counts an access without a weight as one (iter_prepare_mem_entry()).
    add(root, sample, options_.by_weight ? std::max<std::uint64_t>(sample.weight, 1) : sample.period);
}

// The period of each branch is 1, as in perf (iter_prepare_branch_entry()): a sample's period belongs to its own event.
void Gatherer::add_branches(const perfdata::Sample& sample, std::size_t event) {
    constexpr std::size_t kWords = 3;  // of a branch: from, to, flags
    const SpaceId space = processes_.space(sample.pid);
    for (std::size_t i = 0; i + kWords <= sample.branches.size(); i += kWords) {
        const std::uint64_t from = sample.branches[i], to = sample.branches[i + 1];
        const std::uint32_t root = root_of(sample, event, details_.of_branch(space, from, to, sample.branches[i + 2]));
        frames_.assign(1, RawFrame{to, mode_of_address(to)});
        add(root, sample, 1);
    }
}

/// Adds a sample whose frames are in frames_, the outermost first.
void Gatherer::add(std::uint32_t root, const perfdata::Sample& sample, std::uint64_t weight) {
    if (options_.times)
        timed_.push_back({stacks_.add(root, frames_, weight), last_root_number_, sample.time, weight});
    else if (frames_.size() == 1)
        stacks_.add_lone(root, frames_.front(), weight);
    else
        stacks_.add(root, frames_, weight);
    if (sums_ && sums_->is_full(stacks_)) sum();
    if (first_ns_ == 0 || sample.time < first_ns_) first_ns_ = sample.time;
    last_ns_ = std::max(last_ns_, sample.time);
}

// With `--call-graph dwarf` the call chain has the kernel's frames only, and the copied stack gives the user's.
void Gatherer::gather_frames(const perfdata::Sample& sample, SpaceId space) {
    const std::uint64_t branches = reader_.events()[last_event_].attr.branch_sample_type;
    if (!for_each_frame(sample, branches, [this](RawFrame frame) { frames_.push_back(frame); })) frames_.clear();
    if (options_.unwinder && has_x86_registers(reader_.facts()) && sample.user_abi != 0 && !sample.user_stack.empty())
        gather_user_stack(sample, space);
    if (frames_.size() > options_.most_frames) frames_.resize(options_.most_frames);
}

// The unwinder returns return addresses already moved back into their calls. Its frames come after the kernel's, since
// the kernel was called from the innermost of them.
void Gatherer::gather_user_stack(const perfdata::Sample& sample, SpaceId space) {
    registers_.clear();
    for (std::size_t i = 0; i < sample.user_registers.size(); ++i) registers_.push_back(sample.user_registers[i]);
    unwound_.clear();
    const std::uint64_t mask = reader_.events()[last_event_].attr.sample_regs_user;
    options_.unwinder->unwind(processes_[space], {sample.user_abi, mask, registers_, sample.user_stack}, unwound_);
    for (const std::uint64_t address : unwound_) frames_.push_back({jit_codes_.replaced(address), RawFrame::user});
}

// Roots themselves are no stacks: they become contexts.
std::vector<profile::StackId> Gatherer::name_nodes(profile::Profile& profile, Namer& namer) {
    const RawStacks::Nodes& nodes = stacks_.nodes();
    std::vector<profile::StackId> ids(nodes.size(), profile::kNone<profile::StackId>);
    profile.stacks.reserve(nodes.size());
    for_each_frame(nodes, [&](std::size_t i, const RawStacks::Node& node, std::uint32_t root, bool calls_only) {
        const profile::LocationId location = namer.location(roots_[root].space, {node.address, node.mode}, calls_only);
        ids[i] = profile.stacks.add({ids[node.parent], location});
        if (node.count == 0 || options_.times) return;
        profile.samples.push_back({ids[i], {root}, node.count, node.weight, 0});
    });
    return ids;
}

void Gatherer::use_new_names() {
    if (std::exchange(has_new_names_, false)) use_recorded_names(reader_.facts(), dsos_);
}

void Gatherer::sum_in(profile::Profile& profile) {
    sums_ = std::make_unique<StackSums>(profile, processes_, dsos_, options_.source, options_.addresses);
}

profile::ContextId Gatherer::add_context(Context context, profile::Profile& profile) const {
    context.comm = profile.strings.intern(strings_[context.comm]);
    return profile.contexts.add(context);
}

profile::ContextId Gatherer::summed_context(std::uint32_t root) {
    while (summed_contexts_.size() <= root) {
        const Context& context = roots_[summed_contexts_.size()].context;
        const auto [at, fresh] = context_ids_.try_emplace({context, 0});
        if (fresh) at->second = add_context(context, sums_->profile());
        summed_contexts_.push_back(at->second);
    }
    return summed_contexts_[root];
}

void Gatherer::sum() {
    use_new_names();
    sums_->add(stacks_.nodes(),
               [this](std::uint32_t root) { return StackSums::Root{summed_context(root), roots_[root].space}; });
    stacks_.clear();
    last_version_ = ~std::uint64_t{0};  // last_root_ is no node any more
}

// The contexts of the profile have the numbers of the roots, unless functions were summed.
void Gatherer::add_to(profile::Profile& profile) {
    use_new_names();
    // Without addresses the nodes of a function are one stack. With them few stacks are equal, unless there are many.
    if (!options_.addresses && !sums_) sum_in(profile);
    if (options_.addresses && summed_contexts_.empty()) sums_.reset();
    std::optional<Namer> own;
    if (!sums_) own.emplace(profile, processes_, dsos_, options_.source);
    Namer& namer = sums_ ? sums_->namer() : *own;
    namer.forget_map();
    details_.add_to(profile, namer);
    if (sums_) {
        sum();
        sums_.reset();
    } else {
        for (const Root& root : roots_) add_context(root.context, profile);
        const std::vector<profile::StackId> ids = name_nodes(profile, namer);
        for (const Timed& each : timed_)
            profile.samples.push_back({ids[each.node], {each.root}, 1, each.weight, each.time});
    }
    for (const auto& [id, name] : processes_.cgroups())
        profile.cgroups.emplace(id, profile.strings.intern(strings_[name]));
    profile.recording.first_ns = first_ns_;
    profile.recording.last_ns = last_ns_;
}

// A process that has ended may have samples that come later: it is forgotten after the next decay, not at once.
void Gatherer::decay() {
    stacks_.weaken();
    for (const std::uint32_t pid : ended_before_) processes_.end(pid);
    ended_before_ = std::exchange(ended_, {});
    drop_dead_stacks();
}

void Gatherer::forget_samples() {
    stacks_ = {};
    drop_dead_stacks();
}

void Gatherer::drop_dead_details() {
    std::vector<bool> used(details_.size());
    const auto is_any = [](const Root& root) { return root.context.detail != profile::kNone<profile::DetailId>; };
    for (const Root& root : roots_)
        if (is_any(root)) used[root.context.detail.value] = true;
    const std::vector<profile::DetailId> ids = details_.keep_only(used);
    for (Root& root : roots_)
        if (is_any(root)) root.context.detail = ids[root.context.detail.value];
}

void Gatherer::drop_dead_stacks() {
    std::vector<Root> roots;
    stacks_ = stacks_.without_dead([&](std::uint64_t number) {
        roots.push_back(roots_[number]);
        return roots.size() - 1;
    });
    roots_ = std::move(roots);
    drop_dead_details();
    root_numbers_.clear();
    for (std::uint32_t i = 0; i < roots_.size(); ++i) root_numbers_.emplace(roots_[i], i);
    std::vector<SpaceId> used;
    used.reserve(roots_.size());
    for (const Root& root : roots_) used.push_back(root.space);
    if (processes_.drop_ended(used) && options_.unwinder) options_.unwinder->forget_spaces();
    last_version_ = ~std::uint64_t{0};
}

}  // namespace anyperf::analysis
