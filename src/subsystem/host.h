// host.h: all that the subsystem asks of who hosts it: time, tasks and what they have done, shared memory, rights. A
// unit test gives one made of variables, the broker one made of thread pages and messages.
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

constexpr std::uint32_t kOutsideOfRun = ~0u;

/// A thread of the run. Its page is its own while it lives; pid and tid are as clients know them.
struct TaskName {
    std::uint32_t thread_page = kOutsideOfRun;
    std::int32_t pid = 0;
    std::int32_t tid = 0;

    bool operator==(const TaskName&) const = default;
};

/// What decides on a caller's rights (perf_event_open(2), "perf_event_paranoid"; capabilities(7)).
struct Credentials {
    bool perfmon = false;   ///< CAP_PERFMON or CAP_SYS_ADMIN
    bool ipc_lock = false;  ///< CAP_IPC_LOCK
};

/// Whose locked memory a caller's rings are.
struct MemoryAccount {
    std::uint32_t uid = 0;
    std::uint64_t memlock_bytes = 0;  ///< RLIMIT_MEMLOCK
};

/// What a thread has to do for its events: the list of those that it must know, and what they count.
struct Armed {
    EventIndex first = 0;        ///< 0: none; the rest follows by EventPage::next_armed
    std::uint32_t counters = 0;  ///< live counters that are to be kept, a bit each by Source::Term::counter
    bool faults = false;         ///< so are page faults

    bool operator==(const Armed&) const = default;
};

/// /proc/sys/kernel/perf_event_*, and the machine.
struct Limits {
    std::int32_t paranoid = 2;
    std::uint32_t max_sample_rate = 100'000;  ///< samples a second
    std::uint16_t max_stack = 127;            ///< frames
    std::uint32_t mlock_kb = 516;             ///< a CPU
    std::uint64_t mux_interval_ns = 4'000'000;
    std::uint32_t cpus = 1;
};

class Host {
  public:
    virtual ~Host() = default;

    // Time and counts. They only grow while the task lives, and those of a task stand still until moment_over(): what a
    // call does to the members of a group happens to all of them at once (ctx->time of kernel/events/core.c).
    /// ns of a clock that attr.clockid may name.
    virtual std::uint64_t clock(std::int32_t clockid) = 0;
    /// ns that the task has run: the base of its events' times.
    virtual std::uint64_t task_clock(const TaskName& task) = 0;
    /// What the task has done, for every kind of source but `nothing` and `happenings`.
    virtual std::uint64_t value(const TaskName& task, const Source& source) = 0;
    /// The call has ended.
    virtual void moment_over() = 0;

    // Tasks.
    /// The thread with this id as the caller means it, 0 being itself; ESRCH where there is none that lives. One that
    /// is not of the run has no thread page, and is good for may_measure alone.
    virtual Answer<TaskName> find_task(const TaskName& caller, std::int32_t tid) = 0;
    /// Every thread of the run that lives: a cpu-wide event counts them all.
    virtual std::vector<TaskName> living_tasks() = 0;
    /// The CPU that it is on, or was on last.
    virtual std::int32_t cpu(const TaskName& task) = 0;
    virtual bool in_cgroup(const TaskName& task, std::uint64_t cgroup) = 0;
    /// As they are at the moment: each open asks.
    virtual Credentials credentials(const TaskName& caller) = 0;
    virtual MemoryAccount memory_account(const TaskName& caller) = 0;
    /// ptrace's rules for reading (PTRACE_MODE_READ_REALCREDS), without regard of CAP_PERFMON.
    virtual bool may_measure(const TaskName& caller, const TaskName& task) = 0;
    virtual Limits limits() = 0;

    // Threads that are measured.
    /// Its list and its needs from now on. A page that left the list leads on to where it did, until it is freed; one
    /// that joined another thread's names that thread.
    virtual void arm(const TaskName& task, const Armed& armed) = 0;
    /// Its list, an event that samples or what it has to count has changed: it must look before it goes on. A thread
    /// that waits for the answer to its own call looks anyway.
    virtual void attend(const TaskName& task) = 0;

    // Who waits for an event's descriptor.
    /// What poll(2) of this event says has changed; Subsystem::poll tells what it is now.
    virtual void poll_changed(EventIndex event) = 0;

    // Shared memory.
    /// A page of zeros, as `EventPage{}`; 0 where there is no room.
    virtual EventIndex new_event_page() = 0;
    virtual EventPage& event_page(EventIndex event) = 0;
    virtual void free_event_page(EventIndex event) = 0;
    /// A copy of the filter where measured threads see it; 0 where there is no room.
    virtual FilterIndex new_filter(const Filter& filter) = 0;
    virtual void free_filter(FilterIndex filter) = 0;
    /// A ring with a header page and so many pages of data, all zeros, its page's `offset` and `pages` set; 0 where
    /// there is no room.
    virtual RingIndex new_ring(std::uint32_t data_pages) = 0;
    virtual RingPage& ring_page(RingIndex ring) = 0;
    virtual std::span<std::byte> ring_memory(RingIndex ring) = 0;
    virtual void free_ring(RingIndex ring) = 0;

    // Locks in it.
    /// What stands in PageLock::holder while the subsystem has it.
    virtual std::int32_t lock_holder() = 0;
    /// Asked again and again while somebody else has a lock: gives way; true if the holder will never leave it.
    virtual bool abandoned(std::int32_t holder) = 0;
};

}  // namespace anyperf::subsystem
