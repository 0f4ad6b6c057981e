// event_page.h: the half of an event that its task's own thread needs while it runs: what is counted, since when, where
// it overflows, and what its samples contain.
//
// Event pages are in memory shared between the host of the subsystem and the measured threads. So a thread reads its
// own counts and writes its own samples without a request. A page's name is its number (EventIndex), because each
// process maps the pages at another address; 0 names no page.
//
// Locks. A writer of a page holds its `lock`. A writer of a group's requested states, states or membership also holds
// the leader's `group_lock`, taken first. The host writes any page. An event's own thread writes its page when it
// counts an occurrence, when it samples, when a REFRESH limit reaches 0 (`limit`), and where `may_toggle_locally` is
// set (shared/local_toggle.h). The host therefore keeps no copy of the fields that the thread writes, except
// Event::pmu_state.
//
// Freestanding: no libc, no allocation, general registers only, because the engine compiles this too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::subsystem {

using EventIndex = std::uint32_t;
using RingIndex = std::uint32_t;
using FilterIndex = std::uint32_t;

/// perf_event_state of the kernel, in its order. States below `inactive` are not enabled.
enum class EventState : std::int32_t {
    dead = -5,
    exited = -3,   ///< its task has ended, or an exec has removed the event (remove_on_exec)
    error = -2,    ///< a pinned event that did not fit its PMU
    off = -1,      ///< disabled
    inactive = 0,  ///< enabled, but without a counter or on another CPU
    counting = 1,  ///< on a counter
};

/// Where an event's value comes from. Values never decrease while the task lives. An event's count is the growth of its
/// source while it counts.
struct Source {
    enum class Kind : std::uint8_t {
        nothing,      ///< always 0: dummy, bpf-output and the like
        counters,     ///< a weighted sum of the task's live counters
        task_clock,   ///< ns that the task has run
        cpu_clock,    ///< ns of CLOCK_MONOTONIC: a clock event without a task
        page_faults,  ///< minor and major faults of the task
        minor_faults,
        major_faults,
        context_switches,
        cpu_migrations,
        /// Tracepoints, breakpoints, uprobes: the thread itself adds each occurrence to EventPage::count.
        occurrences,
    };
    struct Term {
        std::uint32_t counter;  ///< a row of the engine's table of instruction classes, or kModelled + a quantity
        std::int32_t weight;    ///< a negative weight subtracts; no instruction may decrease the sum
    };
    static constexpr std::size_t kTerms = 8;
    /// Counters from here on are the quantities of src/models: caches, TLBs, branch predictors.
    static constexpr std::uint32_t kModelled = 256;
    /// A counter kLoadsOf + n counts the loads whose modelled latency is at least n cycles.
    static constexpr std::uint32_t kLoadsOf = 1u << 16;
    /// The bit that stands for all of these quantities in a set of counters (ActiveEvents::counters).
    static constexpr std::uint32_t kModelledBit = 31;

    /// What a thread can observe itself do, for tracepoints and uprobes.
    enum class OccurrenceKind : std::uint8_t {
        none,
        syscall_entered,   ///< sys_enter
        syscall_returned,  ///< sys_exit
        process_forked,    ///< reported by the parent
        program_executed,  ///< exec; reported by the new program
        task_ended,
        probe_reached,   ///< a uprobe: the instruction at a place in a file is about to run (probe.h)
        probe_returned,  ///< a uretprobe: the function that begins there has returned
    };
    static constexpr std::uint32_t kEverySyscall = ~0u;

    Kind kind = Kind::nothing;
    std::uint8_t terms = 0;
    std::uint8_t shift = 0;     ///< the sum is divided by 2^shift
    bool modelled : 1 = false;  ///< computed by a model, not counted
    /// The models of caches and TLBs, which need accesses to memory recorded, compute it or describe its samples.
    bool needs_accesses : 1 = false;
    /// The models of branch predictors compute it or describe the branches of its samples.
    bool needs_predictions : 1 = false;
    /// How many of the last terms grow by system calls only; the thread checks them after each system call.
    std::uint8_t syscall_terms = 0;
    OccurrenceKind occurrence_kind = OccurrenceKind::none;
    std::uint8_t syscall_arguments = 0;  ///< of syscall_entered: how many arguments its record has
    bool in_kernel = false;              ///< its samples are of kernel mode
    std::uint32_t number = 0;            ///< the system call's number or kEverySyscall; of a uprobe, its ProbeIndex
    /// The most that one instruction adds, REP strings and system calls apart. 0, only for exact sources: an
    /// instruction adds at most 1 to each counter, and the weights give the bound (instructions_until()).
    std::uint32_t most_per_instruction = 0;
    std::uint32_t record = 0;  ///< of a uprobe: the values in its record (ProbeRecord); 0: none
    Term term[kTerms] = {};
};

/// Whether the source counts page faults of any kind.
constexpr bool counts_faults(const Source& source) {
    return source.kind == Source::Kind::page_faults || source.kind == Source::Kind::minor_faults ||
           source.kind == Source::Kind::major_faults;
}

/// Whether it counts what the models of caches, TLBs and branch predictors see.
constexpr bool uses_models(const Source& source) {
    return source.kind == Source::Kind::counters && source.terms != 0 && source.term[0].counter >= Source::kModelled;
}

/// Whether it counts modelled cycles without the models of caches and branch predictors, or what follows from them.
constexpr bool counts_cycles(const Source& source) {
    return source.kind == Source::Kind::counters && !uses_models(source) && source.modelled;
}

/// Whether it is a uprobe or uretprobe; `number` is then a ProbeIndex.
constexpr bool is_uprobe(const Source& source) {
    return source.kind == Source::Kind::occurrences &&
           (source.occurrence_kind == Source::OccurrenceKind::probe_reached ||
            source.occurrence_kind == Source::OccurrenceKind::probe_returned);
}

/// A lock shared between processes. A process may die while it holds one, so it contains the holder's thread id
/// (page_lock.h). 0: free.
struct PageLock {
    std::int32_t holder = 0;
};

/// The signal that an overflow sends (fcntl F_SETOWN, F_SETSIG, O_ASYNC).
struct Notify {
    std::int32_t owner = 0;         ///< pid, tid or -pgrp as F_SETOWN sets it; 0: no signal
    std::int32_t owner_type = 0;    ///< F_OWNER_TID, F_OWNER_PID, F_OWNER_PGRP
    std::int32_t signal = 0;        ///< 0: SIGIO, without a siginfo of its own
    std::int32_t fd = -1;           ///< the descriptor that O_ASYNC was set on
    std::uint32_t on = 0;           ///< O_ASYNC is set
    std::uint64_t owner_start = 0;  ///< start time (/proc/PID/stat), since the id may be reused; 0: unknown
};

/// The part of the attr that does not change after the open (except by MODIFY_ATTRIBUTES).
struct EventShape {
    std::uint32_t type = 0;
    std::uint32_t bp_type = 0;
    std::uint64_t config = 0;
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    std::uint64_t flags = 0;  ///< the attr's bit fields, as one word
    std::uint64_t branch_sample_type = 0;
    std::uint64_t sample_regs_user = 0;
    std::uint64_t sample_regs_intr = 0;
    std::uint32_t sample_stack_user = 0;
    std::int32_t clockid = 0;
    std::uint16_t sample_max_stack = 0;  ///< 0: the maximum
    std::uint16_t precise_ip = 0;
    std::uint32_t wakeup = 0;  ///< wakeup_events, or wakeup_watermark if attr.watermark is set
    std::uint64_t bp_addr = 0;
    std::uint64_t bp_len = 0;
    std::uint64_t sig_data = 0;
};

struct alignas(512) EventPage {
    PageLock lock;
    EventState state = EventState::off;  ///< the present state
    PageLock group_lock;                 ///< of a leader, for its group; taken before the `lock` of any member
    /// What clients asked for: off, or `inactive` for enabled; also error and exited. Under a leader that is off
    /// `state` is off, whatever the requested state is.
    EventState requested_state = EventState::off;
    std::uint64_t id = 0;         ///< in records and for ioctl ID; a child has its parent's
    std::uint64_t stream_id = 0;  ///< unique to this event, also a child
    EventShape shape;
    Source source;

    // Counting. The count is count + (source - start) while it counts, otherwise count.
    std::uint64_t count = 0;
    std::uint64_t start = 0;       ///< the source's value when `count` was last updated
    std::uint64_t enabled = 0;     ///< total_time_enabled in ns, up to the last change of state
    std::uint64_t running = 0;     ///< total_time_running in ns, up to the last change of state
    std::uint64_t time_start = 0;  ///< the event's clock at the last change of state, ns
    std::uint64_t lost = 0;        ///< records that were dropped: the ring was full, paused or locked

    // Sampling. The event overflows when its source reaches overflow_at while it counts (overflow.h).
    std::uint64_t period = 0;       ///< 0: counts only
    std::uint64_t period_left = 0;  ///< the rest of the period, while it does not count; of occurrences always
    std::uint64_t overflow_at = 0;
    std::uint64_t frequency = 0;  ///< samples per second that `period` is adapted to; 0: the period is fixed
    std::uint64_t last_overflow_time = 0;
    /// Software family: length of the period that runs; `period` takes effect after it (overflow.h).
    std::uint64_t last_period = 0;
    std::uint64_t tick = 0;  ///< the tick in which `tick_samples` were taken, for throttling
    std::uint32_t tick_samples = 0;
    std::uint32_t throttled = 0;  ///< no sample before the next tick
    std::uint32_t early_end = 0;  ///< after IOC_PERIOD: the next event ends the period (overflow.h)
    std::int64_t limit = 0;       ///< overflows left until the event is disabled (REFRESH); 0 or less: no limit
    std::uint32_t sampling = 0;   ///< whether it overflows: into a ring, by a signal, or for a limit

    // The event's place: task, thread's list, group, ring.
    std::int32_t cpu = -1;
    std::uint32_t thread_page = ~0u;  ///< of the task that it counts; ~0: none
    EventIndex next_active = 0;       ///< next active event of that thread, in whatever state (active_events.h)
    EventIndex leader = 0;            ///< itself, if it leads
    EventIndex next_in_group = 0;     ///< the leader, then its siblings in order of creation; 0 ends the list
    std::uint32_t group_size = 1;     ///< of a leader: members, itself included
    std::uint32_t has_children = 0;   ///< cpu-wide, or has or had children, whose counts only the host adds up
    /// Set by the host: the event's thread may toggle it without a request. It is bound to no CPU or cgroup, its PMU
    /// need not be informed, and no event of the task competes for counters.
    std::uint32_t may_toggle_locally = 0;
    RingIndex ring = 0;      ///< the ring of its samples; 0: none
    FilterIndex filter = 0;  ///< occurrences count only if it holds (filter.h); 0: always
    Notify notify;
};
static_assert(sizeof(EventPage) == 512);

}  // namespace anyperf::subsystem
