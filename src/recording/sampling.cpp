#include "recording/sampling.h"

#include <span>
#include <utility>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"

namespace anyperf::recording {

namespace {

using abi::flag;
using abi::read_format;
using abi::sample;

constexpr std::uint64_t kDummy = 9;  // PERF_COUNT_SW_DUMMY
void set(abi::Attr& attr, std::uint64_t mask, bool on = true) {
    attr.flags = on ? attr.flags | mask : attr.flags & ~mask;
}

/// Whether every occurrence of the event should be a sample. perf's default period for these types is 1.
bool is_discrete(const abi::Attr& attr) {
    return attr.type == abi::kTypeTracepoint || attr.type == abi::kTypeBreakpoint;
}

/// -c and -F are for events whose string has no period= or freq= term.
void set_period(events::Event& event, const SamplingOptions& options) {
    abi::Attr& attr = event.attr;
    if (options.no_samples) return;
    if (event.sampling.period || event.sampling.freq) return;
    const bool by_period = options.period || (is_discrete(attr) && !options.frequency);
    attr.sample_period = by_period ? options.period.value_or(1) : options.frequency.value_or(kDefaultFrequency);
    set(attr, flag("freq"), !by_period);
}

/// The kernel follows frame pointers itself, so they need only PERF_SAMPLE_CALLCHAIN. The other kinds also sample the
/// data from which a reader finds the callers in user space.
void set_call_graph(events::Event& event, CallGraph call_graph, const SamplingOptions& options) {
    abi::Attr& attr = event.attr;
    if (call_graph == CallGraph::none) return;
    attr.sample_type |= sample("PERF_SAMPLE_CALLCHAIN");
    if (call_graph == CallGraph::stacks) {
        attr.sample_type |= sample("PERF_SAMPLE_REGS_USER") | sample("PERF_SAMPLE_STACK_USER");
        attr.sample_regs_user |= kGeneralRegisters;
        attr.sample_stack_user = event.sampling.stack_size.value_or(options.stack_bytes);
        // The chain has only the kernel's frames. Readers unwind the copied stack for the others.
        set(attr, flag("exclude_callchain_user"));
    }
    if (call_graph == CallGraph::last_branches) {
        constexpr std::uint64_t kUser = 1, kCallStack = 1 << 11, kNoFlags = 1 << 14, kNoCycles = 1 << 15;
        attr.sample_type |= sample("PERF_SAMPLE_BRANCH_STACK");
        attr.branch_sample_type = kUser | kCallStack | kNoFlags | kNoCycles;
        // The chain keeps its user part: perf replaces what follows the marker PERF_CONTEXT_USER by the branches.
    }
}

/// The term call-graph=… of an event string overrides the option.
CallGraph call_graph_of(const events::Event& event, const SamplingOptions& options) {
    if (!event.sampling.call_graph) return options.call_graph;
    const std::string& text = *event.sampling.call_graph;
    if (text == "fp") return CallGraph::frame_pointers;
    if (text == "dwarf") return CallGraph::stacks;
    return text == "lbr" ? CallGraph::last_branches : CallGraph::none;
}

/// Fields that an option adds by itself.
void add_chosen_fields(abi::Attr& attr, const SamplingOptions& options) {
    const auto add = [&](bool wanted, std::uint64_t mask) { attr.sample_type |= wanted ? mask : 0; };
    add(options.weights, sample("PERF_SAMPLE_WEIGHT"));
    add(options.cpus, sample("PERF_SAMPLE_CPU"));
    add(options.physical_addresses, sample("PERF_SAMPLE_PHYS_ADDR"));
    add(options.data_page_sizes, sample("PERF_SAMPLE_DATA_PAGE_SIZE"));
    add(options.code_page_sizes, sample("PERF_SAMPLE_CODE_PAGE_SIZE"));
    add(options.cgroups, sample("PERF_SAMPLE_CGROUP"));
    add(options.transactions, sample("PERF_SAMPLE_TRANSACTION"));
    add(options.user_registers != 0, sample("PERF_SAMPLE_REGS_USER"));
    add(options.interrupt_registers != 0, sample("PERF_SAMPLE_REGS_INTR"));
    attr.sample_regs_user = options.user_registers;
    attr.sample_regs_intr = options.interrupt_registers;
}

void set_sample_type(events::Event& event, const SamplingOptions& options) {
    abi::Attr& attr = event.attr;
    // Samples have the period even if it is fixed, because not all readers take it from the attr.
    attr.sample_type = sample("PERF_SAMPLE_IP") | sample("PERF_SAMPLE_TID") | sample("PERF_SAMPLE_TIME") |
                       sample("PERF_SAMPLE_PERIOD");
    if (options.cpu_wide || is_discrete(attr)) attr.sample_type |= sample("PERF_SAMPLE_CPU");
    if (attr.type == abi::kTypeTracepoint) attr.sample_type |= sample("PERF_SAMPLE_RAW");
    if (options.data_addresses) attr.sample_type |= sample("PERF_SAMPLE_ADDR") | sample("PERF_SAMPLE_DATA_SRC");
    add_chosen_fields(attr, options);
    if (options.branch_filter != 0) {
        attr.sample_type |= sample("PERF_SAMPLE_BRANCH_STACK");
        attr.branch_sample_type = options.branch_filter;
    }
    set_call_graph(event, call_graph_of(event, options), options);
    if (options.no_kernel_callers) set(attr, flag("exclude_callchain_kernel"));
    if (options.no_user_callers) set(attr, flag("exclude_callchain_user"));
    if (event.sampling.max_stack) attr.sample_max_stack = *event.sampling.max_stack;
}

/// Requests the side-band records: names, mappings, tasks, kernel symbols and, if wanted, context switches.
void set_tracking(abi::Attr& attr, const SamplingOptions& options) {
    for (const std::uint64_t mask : {flag("mmap"), flag("mmap2"), flag("comm"), flag("comm_exec"), flag("task")})
        set(attr, mask);
    // Code that the kernel generates during the recording. For kernels before 5.1, OpenSet::open() leaves these out.
    set(attr, flag("ksymbol"));
    // The kernel knows which file it maps, also in a container and if the file is replaced later; before 5.12 it does
    // not say so.
    set(attr, flag("build_id"));
    set(attr, flag("bpf_event"), options.bpf);
    set(attr, flag("namespaces"), options.namespaces);
    set(attr, flag("cgroup"), options.cgroups);
    set(attr, flag("mmap_data"), wants_data_maps(options));
    set(attr, flag("context_switch"), options.switch_events);
}

/// Sets what all events have in common. Records name their event by an id; PERF_FORMAT_ID makes a read of the event
/// return it. sample_id_all adds that id and the time to records that are not samples.
void set_common(abi::Attr& attr, const SamplingOptions& options, bool leads) {
    if (attr.size == 0) attr.size = sizeof attr;
    attr.read_format = read_format("PERF_FORMAT_ID") | read_format("PERF_FORMAT_LOST");
    if (options.thread_counts) {
        set(attr, flag("inherit_stat"));
        attr.read_format |=
            read_format("PERF_FORMAT_TOTAL_TIME_ENABLED") | read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");
    }
    set(attr, flag("sample_id_all"));
    set(attr, flag("inherit"), options.inherit && !options.cpu_wide);
    // A member of a group counts only while its leader does, so only the leader is disabled.
    set(attr, flag("disabled"), leads);
    set(attr, flag("enable_on_exec"), leads && options.enable_on_exec);
    set(attr, flag("write_backward"), options.overwrite);
    if (options.clock) {
        set(attr, flag("use_clockid"));
        attr.clockid = *options.clock;
    }
    if (options.watermark_bytes != 0) {
        set(attr, flag("watermark"));
        attr.wakeup_events = options.watermark_bytes;
    }
}

/// For {a,b}:S: only the leader samples, and its samples have the values of all members. As in perf 6.1, such a group
/// is not inherited: perf's readers add up values by id and not by thread.
void make_leader_sampling(std::span<SampledEvent> members) {
    const std::uint64_t type = members.front().event.attr.sample_type | sample("PERF_SAMPLE_READ");
    for (SampledEvent& member : members) {
        abi::Attr& attr = member.event.attr;
        attr.sample_type = type;
        attr.read_format |= read_format("PERF_FORMAT_GROUP");
        set(attr, flag("inherit"), false);
        if (&member == &members.front()) continue;
        attr.sample_period = 0;
        set(attr, flag("freq"), false);
    }
}

/// An event that never happens and only gets side-band records. It is on from the beginning and its records are not
/// overwritten, because the other events may be off for a while and may overwrite theirs.
SampledEvent tracking_event(const SamplingOptions& options, std::size_t index) {
    SamplingOptions kept = options;
    kept.overwrite = false;
    SampledEvent tracking{.event = {}, .leader = index, .tracks = true};
    tracking.event.name = "dummy:u";
    abi::Attr& attr = tracking.event.attr;
    attr.type = abi::kTypeSoftware;
    attr.config = kDummy;
    attr.sample_period = 1;
    attr.sample_type = sample("PERF_SAMPLE_IP") | sample("PERF_SAMPLE_TID") | sample("PERF_SAMPLE_TIME");
    if (options.cpu_wide || options.cpus) attr.sample_type |= sample("PERF_SAMPLE_CPU");
    set(attr, flag("exclude_kernel") | flag("exclude_hv"));
    set_common(attr, kept, true);
    set_tracking(attr, options);
    set(attr, flag("disabled") | flag("enable_on_exec"), false);
    return tracking;
}

}  // namespace

std::vector<SampledEvent> sampled_events(const std::vector<events::EventGroup>& groups,
                                         const SamplingOptions& options) {
    std::vector<SampledEvent> sampled;
    for (const auto& group : groups) {
        const std::size_t leader = sampled.size();
        for (const auto& event : group.events) {
            SampledEvent next{.event = event, .leader = leader};
            set_period(next.event, options);
            set_sample_type(next.event, options);
            set_common(next.event.attr, options, sampled.size() == leader);
            sampled.push_back(std::move(next));
        }
        if (group.events.front().sample_read && group.events.size() > 1)
            make_leader_sampling(std::span{sampled}.subspan(leader));
    }
    if (options.separate_tracking) {
        sampled.push_back(tracking_event(options, sampled.size()));
    } else {
        sampled.front().tracks = true;
        set_tracking(sampled.front().event.attr, options);
    }
    if (sampled.size() > 1 || options.identifiers)
        for (auto& each : sampled) each.event.attr.sample_type |= sample("PERF_SAMPLE_IDENTIFIER");
    return sampled;
}

SampledEvent only_tracking(const SamplingOptions& options) {
    SampledEvent tracking = tracking_event(options, 0);
    tracking.event.attr.sample_type |= sample("PERF_SAMPLE_IDENTIFIER");
    return tracking;
}

}  // namespace anyperf::recording
