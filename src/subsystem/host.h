// host.h: what the subsystem needs from the program that hosts it: time, tasks and their counts, rights, shared memory.
// The broker implements it with thread pages and messages, unit tests with variables.
//
// No function may call back into the Subsystem. References and spans into shared memory stay valid until the page or
// ring is freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "subsystem/answer.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/filter.h"
#include "subsystem/shared/ring_page.h"

namespace anyperf::subsystem {

/// TaskId::thread_page of a thread that is not in the run.
constexpr std::uint32_t kOutsideOfRun = ~0u;

/// A thread of the run, which has its thread page until it ends. pid and tid are those that the kernel shows its
/// clients; records have Host::shown_id() of them.
struct TaskId {
    std::uint32_t thread_page = kOutsideOfRun;
    std::int32_t pid = 0;
    std::int32_t tid = 0;

    bool operator==(const TaskId&) const = default;
};

/// The caller's capabilities that perf_event_open checks (perf_event_open(2), "perf_event_paranoid"; capabilities(7)).
struct Credentials {
    bool perfmon = false;    ///< CAP_PERFMON or CAP_SYS_ADMIN
    bool ipc_lock = false;   ///< CAP_IPC_LOCK
    bool sys_admin = false;  ///< CAP_SYS_ADMIN
};

/// The user whose share of locked memory pays for a caller's rings.
struct MemoryAccount {
    std::uint32_t uid = 0;
    std::uint64_t memlock_bytes = 0;  ///< RLIMIT_MEMLOCK
};

/// What a thread must do for its events: look after its active events (active_events.h), and count what all others
/// need.
struct ActiveEvents {
    EventIndex first = 0;        ///< head of the list, linked by EventPage::next_active; 0: the list is empty
    std::uint32_t counters = 0;  ///< live counters that some event uses: a bit each, by Source::Term::counter
    bool faults = false;         ///< some event counts page faults

    bool operator==(const ActiveEvents&) const = default;
};

/// The values of /proc/sys/kernel/perf_event_* and of the PMUs' perf_event_mux_interval_ms in sysfs, and the number of
/// CPUs.
struct Limits {
    std::int32_t paranoid = 2;
    std::uint32_t max_sample_rate = 100'000;  ///< samples a second
    std::uint16_t max_stack = 127;            ///< frames
    std::uint32_t mlock_kb = 516;  ///< KiB of rings that a user may lock for each CPU, in addition to RLIMIT_MEMLOCK
    std::uint64_t mux_interval_ns = 4'000'000;
    std::uint32_t cpus = 1;
    bool rdpmc = true;  ///< events that are opened now may be read by rdpmc
};

class Host {
  public:
    virtual ~Host() = default;

    // ---- time and counts ----
    // A task's clock and values never decrease while the task lives. Once read in a call, they stay the same until
    // call_ended(), so that a call acts on all members of a group at one moment (ctx->time in kernel/events/core.c).
    /// The clock that attr.clockid names, in ns.
    virtual std::uint64_t clock(std::int32_t clockid) = 0;
    /// How long the task has run, in ns: the base of total_time_enabled and total_time_running.
    virtual std::uint64_t task_clock(const TaskId& task) = 0;
    /// The task's value of a source, in the source's unit. Not called for sources of kind `nothing` and `occurrences`.
    virtual std::uint64_t value(const TaskId& task, const Source& source) = 0;
    /// The subsystem's current call ends: times and counts may advance.
    virtual void call_ended() = 0;

    // ---- tasks ----
    /// The thread with this id in the caller's view; 0 is the caller. ESRCH if no such thread lives. A thread outside
    /// of the run has the page kOutsideOfRun and may be passed to may_measure() only.
    virtual Answer<TaskId> find_task(const TaskId& caller, std::int32_t tid) = 0;
    /// All living threads of the run: those that a cpu-wide event counts.
    virtual std::vector<TaskId> living_tasks() = 0;
    /// What programs of the run see for an id of a TaskId: in a run with turns, another number.
    virtual std::int32_t shown_id(std::int32_t id) { return id; }
    /// The CPU that the task is on, or was on last.
    virtual std::int32_t cpu(const TaskId& task) = 0;
    virtual bool in_cgroup(const TaskId& task, std::uint64_t cgroup) = 0;
    /// The caller's capabilities at this moment. Each open asks again, since a program may drop them.
    virtual Credentials credentials(const TaskId& caller) = 0;
    virtual MemoryAccount memory_account(const TaskId& caller) = 0;
    /// The kernel's ptrace check for reading (PTRACE_MODE_READ_REALCREDS), not counting CAP_PERFMON.
    virtual bool may_measure(const TaskId& caller, const TaskId& task) = 0;
    virtual Limits limits() = 0;

    // ---- measured threads ----
    /// Replaces the task's active events. The thread may be walking the old list: a removed page keeps its link to the
    /// next until it is freed, and a page that has joined another thread's list names that thread.
    virtual void set_active_events(const TaskId& task, const ActiveEvents& active) = 0;
    /// The task must reach a safepoint and look at its active events before it runs on: its list, the state of an
    /// event that samples, or what it must count has changed. A thread that waits for the answer to its own request
    /// looks anyway.
    virtual void request_safepoint(const TaskId& task) = 0;

    // ---- descriptors ----
    /// The event's poll state may have changed; Subsystem::poll returns the new one.
    virtual void poll_changed(EventIndex event) = 0;

    // ---- shared memory; indices are never 0 ----
    /// The index of a page equal to `EventPage{}`, for an event that counts this task; null: it counts no task, or a
    /// CPU. 0 if there is no room.
    virtual EventIndex new_event_page(const TaskId* counted) = 0;
    virtual EventPage& event_page(EventIndex event) = 0;
    virtual void free_event_page(EventIndex event) = 0;
    /// The index of a copy of the filter in shared memory; 0 if there is no room.
    virtual FilterIndex new_filter(const Filter& filter) = 0;
    virtual void free_filter(FilterIndex filter) = 0;
    /// The index of a ring with a header page and `data_pages` data pages, all zero, whose RingPage::offset and ::pages
    /// are set; 0 if there is no room.
    virtual RingIndex new_ring(std::uint32_t data_pages) = 0;
    virtual RingPage& ring_page(RingIndex ring) = 0;
    /// The header page and the data pages. The host takes their number and place from its own record: RingPage has them
    /// for threads, and a program may have overwritten it.
    virtual std::span<std::byte> ring_memory(RingIndex ring) = 0;
    /// The offset of the ring's header page in the shared memory, in bytes.
    virtual std::uint64_t ring_offset(RingIndex ring) = 0;
    virtual void free_ring(RingIndex ring) = 0;

    // ---- locks in shared memory ----
    /// The value of PageLock::holder while the subsystem holds a lock.
    virtual std::int32_t lock_holder() = 0;
    /// Called repeatedly while another holder has a lock. Yields the CPU. True if that holder will never unlock, or if
    /// the subsystem's current call has waited for too long. The caller then takes the lock over, or does without
    /// (is_out_of_patience()).
    virtual bool is_abandoned(std::int32_t holder) = 0;
    /// Whether the current call has waited for too long, so that the holder may be alive. A caller that can do without
    /// the lock then does (RingLock in world.h).
    virtual bool is_out_of_patience() = 0;
};

}  // namespace anyperf::subsystem
