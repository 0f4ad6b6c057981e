// event_page.h: the part of an event that its task's own thread needs while it runs: what is counted, from where on,
// when it overflows, and what a sample of it has. It stands in memory that the host of the subsystem shares with the
// threads that are measured, so that a thread reads its own counters and writes its own samples without asking anybody.
// Pages are numbered, not pointed at: each process has them at another address. 0 names none.
//
// Freestanding: no libc, no allocation, general registers only. Whoever changes a page holds its `lock`; who changes
// what a group's events are told to be (`own`), what becomes of them (`state`) or who is in the group holds the
// leader's `group` lock around that. The host does so for every event. The event's own thread does so for itself,
// without asking the host, where a limit of overflows runs out (`limit`) and where `switchable` is set
// (shared/own_switch.h); the host keeps no copy that could grow old.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::subsystem {

using EventIndex = std::uint32_t;
using RingIndex = std::uint32_t;
using FilterIndex = std::uint32_t;

/// perf_event_state of the kernel, in its order: what is below `inactive` does not want to count.
enum class EventState : std::int32_t {
    dead = -5,
    exited = -3,   ///< its task has ended, or has left it by remove_on_exec
    error = -2,    ///< pinned, and did not fit
    off = -1,      ///< disabled
    inactive = 0,  ///< enabled and not on its PMU
    active = 1,    ///< counting
};

/// Where an event's value comes from. Values only ever grow while the task lives; an event's count is how much its
/// source has grown while it was active.
struct Source {
    enum class Kind : std::uint8_t {
        nothing,      ///< always 0: dummy, bpf-output
        counters,     ///< a weighted sum of the task's live counters
        task_clock,   ///< ns the task has run
        cpu_clock,    ///< ns of CLOCK_MONOTONIC
        page_faults,  ///< of the task, both kinds
        minor_faults,
        major_faults,
        context_switches,
        cpu_migrations,
        happenings,  ///< whoever makes them adds to EventPage::count: tracepoints, breakpoints, uprobes
    };
    struct Term {
        std::uint32_t counter;  ///< a row of the engine's table of classes
        std::int32_t weight;    ///< below 0 takes away; no instruction may make the sum smaller
    };
    static constexpr std::size_t kTerms = 8;

    /// What a thread of the run can see happen to itself.
    enum class Happening : std::uint8_t {
        none,
        call_entered,      ///< a system call begins
        call_left,         ///< and has its answer
        process_forked,    ///< in the parent
        program_executed,  ///< in the new program
        task_ended,
        place_reached,  ///< an instruction of a file is about to run (probe.h)
        place_left,     ///< a function that begins there has returned
    };
    static constexpr std::uint32_t kEveryCall = ~0u;

    Kind kind = Kind::nothing;
    std::uint8_t terms = 0;
    std::uint8_t shift = 0;       ///< the sum is divided by 2^shift
    bool modelled = false;        ///< computed by a model, not counted
    std::uint8_t call_terms = 0;  ///< the last so many: system calls alone add to them, and are looked at after each
    Happening happening = Happening::none;
    std::uint8_t words = 0;    ///< of a call: the arguments that its record has
    bool in_kernel = false;    ///< samples are of kernel mode
    std::uint32_t number = 0;  ///< of the system call, or kEveryCall; of a place, a ProbeIndex
    std::uint32_t record = 0;  ///< of a place: which values its record has (ProbeRecord); 0: none
    Term term[kTerms] = {};
};

/// Page faults of one kind or both.
constexpr bool counts_faults(const Source& source) {
    return source.kind == Source::Kind::page_faults || source.kind == Source::Kind::minor_faults ||
           source.kind == Source::Kind::major_faults;
}

/// What uprobes count: `number` is that of a place.
constexpr bool is_of_place(const Source& source) {
    return source.kind == Source::Kind::happenings &&
           (source.happening == Source::Happening::place_reached || source.happening == Source::Happening::place_left);
}

/// Mutual exclusion between processes, one of which may die inside: holds the thread id of who has it.
struct PageLock {
    std::int32_t holder = 0;
};

/// How an overflow's signal is sent (fcntl F_SETOWN, F_SETSIG, O_ASYNC).
struct Notify {
    std::int32_t owner = 0;       ///< pid, tid or -pgrp; 0: nobody
    std::int32_t owner_type = 0;  ///< F_OWNER_TID, F_OWNER_PID, F_OWNER_PGRP
    std::int32_t signal = 0;      ///< 0: SIGIO without a siginfo of its own
    std::int32_t fd = -1;         ///< the descriptor that O_ASYNC was set on
    std::uint32_t on = 0;         ///< O_ASYNC is set
};

/// What stays as the event was opened, from its attr.
struct EventShape {
    std::uint32_t type = 0;
    std::uint32_t bp_type = 0;
    std::uint64_t config = 0;
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    std::uint64_t flags = 0;  ///< the attr's word of bit fields
    std::uint64_t branch_sample_type = 0;
    std::uint64_t sample_regs_user = 0;
    std::uint64_t sample_regs_intr = 0;
    std::uint32_t sample_stack_user = 0;
    std::int32_t clockid = 0;
    std::uint16_t sample_max_stack = 0;  ///< 0 taken as the maximum
    std::uint16_t precise_ip = 0;
    std::uint32_t wakeup = 0;  ///< wakeup_events, or wakeup_watermark with the flag
    std::uint64_t bp_addr = 0;
    std::uint64_t bp_len = 0;
    std::uint64_t sig_data = 0;
};

struct alignas(512) EventPage {
    PageLock lock;
    EventState state = EventState::off;  ///< what has become of it
    PageLock group;                      ///< in the leader. Taken before the `lock` of any member
    /// What it was told to be: off, error, exited, or `inactive` where it wants to count. Below a leader that is off
    /// it is off whatever it wants.
    EventState own = EventState::off;
    std::uint64_t id = 0;         ///< what samples and ioctl ID say: of an inherited event, its parent's
    std::uint64_t stream_id = 0;  ///< its own
    EventShape shape;
    Source source;

    // Counting. Count now = count + (source now - start) while active, else count.
    std::uint64_t count = 0;
    std::uint64_t start = 0;       ///< the source's value when it became active
    std::uint64_t enabled = 0;     ///< total_time_enabled, ns, up to the last change of state
    std::uint64_t running = 0;     ///< total_time_running
    std::uint64_t time_start = 0;  ///< the task's clock at the last change of state
    std::uint64_t lost = 0;        ///< samples that found the ring full

    // Sampling. It overflows when the source reaches overflow_at while active.
    std::uint64_t period = 0;       ///< 0: counts only
    std::uint64_t period_left = 0;  ///< of the current period, while not active
    std::uint64_t overflow_at = 0;
    std::uint64_t frequency = 0;  ///< samples a second that the period is to follow; 0: a fixed period
    std::uint64_t last_overflow_time = 0;
    std::uint64_t last_period = 0;  ///< of software-kind events: the one that runs; `period` follows it (overflow.h)
    std::uint64_t tick = 0;         ///< that `tick_samples` were taken in; both for throttling
    std::uint32_t tick_samples = 0;
    std::uint32_t throttled = 0;  ///< no samples before the next tick
    std::uint32_t early = 0;      ///< the end lies an event behind the period's begin: IOC_PERIOD (overflow.h)
    std::int64_t limit = 0;       ///< overflows left of REFRESH; 0: unlimited
    std::uint32_t sampling = 0;   ///< overflows, be it into a ring, a signal or a limit
    std::uint32_t wakeups = 0;    ///< overflows since the last wake-up

    // Where it stands.
    std::int32_t cpu = -1;
    std::uint32_t thread_page = ~0u;  ///< of the task it counts; ~0: none
    EventIndex next_armed = 0;        ///< list of that thread's events, in whatever state (armed_list.h)
    EventIndex leader = 0;            ///< itself, if it leads
    EventIndex next_in_group = 0;     ///< leader, then siblings in order of creation
    std::uint32_t group_size = 1;     ///< in the leader
    std::uint32_t has_children = 0;   ///< inherited by tasks that live or have ended: only the host knows the sum
    /// Set by the host: whether it counts is a matter of nobody but its thread. It is of no CPU or cgroup, no PMU is to
    /// be told, and it needs no counter that another event might need.
    std::uint32_t switchable = 0;
    RingIndex ring = 0;      ///< where its samples go; 0: nowhere
    FilterIndex filter = 0;  ///< what happens counts where this holds (filter.h); 0: always
    Notify notify;
};
static_assert(sizeof(EventPage) == 512);

}  // namespace anyperf::subsystem
