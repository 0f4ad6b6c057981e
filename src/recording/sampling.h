// sampling.h: turns the options of a recording into the attrs of its events, with perf's defaults (perf-record(1)).
// Nothing is opened here, so a unit test can check each option's effect on an attr. Parts that the kernel or the CPU
// does not have are left out later, when the events are opened (open_set.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::recording {

enum class CallGraph : std::uint8_t {
    none,
    frame_pointers,
    stacks,        ///< registers and a copy of the user stack (--call-graph dwarf)
    exact,         ///< the calls that have not returned, which the virtual PMU knows (--call-graph exact)
    last_branches  ///< the CPU's record of calls (--call-graph lbr)
};

/// perf's limit: the largest multiple of 8 that the 16 bits of a record's size can hold. The kernel copies less if the
/// other fields of the record leave less room (perf_sample_ustack_size() in kernel/events/core.c).
inline constexpr std::uint32_t kMostStack = 65528;

/// What perf records of the registers without a choice (PERF_REGS_MASK in tools/perf/arch/x86/include/perf_regs.h): all
/// of enum perf_event_x86_regs up to r15, except ds, es, fs and gs.
inline constexpr std::uint64_t kGeneralRegisters = 0xff0fff;

struct SamplingOptions {
    std::optional<std::uint64_t> period;     ///< -c: events between two samples
    std::optional<std::uint64_t> frequency;  ///< -F: samples a second; neither: kDefaultFrequency
    CallGraph call_graph = CallGraph::none;
    std::uint32_t stack_bytes = kMostStack;  ///< of CallGraph::stacks: a multiple of 8
    bool stack_bytes_are_wanted = false;     ///< the user chose `stack_bytes`
    bool keeps_stacks = false;               ///< copied stacks go to the file, and its readers unwind them
    std::uint64_t branch_filter = 0;         ///< -b, -j: bits of branch_sample_type; 0: no branches
    bool data_addresses = false;             ///< -d
    bool weights = false;                    ///< -W
    bool cpus = false;                       ///< --sample-cpu: also of events that are bound to tasks
    bool identifiers = false;                ///< --sample-identifier: also of a single event
    bool physical_addresses = false;         ///< --phys-data
    bool data_page_sizes = false;            ///< --data-page-size
    bool code_page_sizes = false;            ///< --code-page-size
    bool namespaces = false;                 ///< --namespaces
    bool cgroups = false;                    ///< --all-cgroups: of each sample, and their names
    bool transactions = false;               ///< --transaction
    std::uint64_t user_registers = 0;        ///< --user-regs: bits of sample_regs_user
    std::uint64_t interrupt_registers = 0;   ///< --intr-regs: bits of sample_regs_intr
    bool thread_counts = false;              ///< -s: READ records with the count of each thread that ends
    bool no_samples = false;                 ///< -n: events only count
    bool bpf = true;                         ///< records of BPF programs
    bool no_kernel_callers = false;          ///< --user-callchains
    bool no_user_callers = false;            ///< --kernel-callchains
    bool switch_events = false;              ///< --switch-events
    bool inherit = true;                     ///< also the tasks that these tasks create
    bool cpu_wide = false;                   ///< events are not bound to tasks
    bool enable_on_exec = false;             ///< the command's exec starts the events; else they are started later
    bool separate_tracking = false;          ///< a separate event records names and maps, and is on from the beginning
    bool overwrite = false;                  ///< the newest records replace the oldest
    std::uint32_t watermark_bytes = 0;  ///< unread bytes of a ring that wake the reader; 0: half a ring (the kernel's)
    std::optional<std::int32_t> clock;  ///< -k: the clock of the times; none: the kernel's own
};

/// Whether mappings that are not executable are recorded, too. Addresses of data need them. So do copied stacks in the
/// file: perf finds unwind tables by their mappings.
inline bool wants_data_maps(const SamplingOptions& options) {
    return options.data_addresses || (options.keeps_stacks && options.call_graph == CallGraph::stacks);
}

inline constexpr std::uint64_t kDefaultFrequency = 4000;

/// An event to be recorded.
struct SampledEvent {
    events::Event event;      ///< its attr is complete, with disabled, inherit, sample_type and read_format
    std::size_t leader = 0;   ///< index of its group's leader; its own if it leads or is alone
    bool tracks = false;      ///< its rings get the records of names and maps
    std::string filter = {};  ///< of a tracepoint: for which hits it has samples (PERF_EVENT_IOC_SET_FILTER)
};

/// The events of all groups, in order. The first one tracks names and maps, or with `separate_tracking` an event that
/// is added at the end. If there are several events, each sample has its event's id (PERF_SAMPLE_IDENTIFIER).
/// Precondition: there is a group, and none is empty.
std::vector<SampledEvent> sampled_events(const std::vector<events::EventGroup>& groups, const SamplingOptions& options);

/// An event that never happens and only gets the records of names and maps, which have its id.
SampledEvent only_tracking(const SamplingOptions& options);

}  // namespace anyperf::recording
