// run_host.h: the run as the subsystem sees it (subsystem/host.h). A task is a thread page. Its counts are the live
// counters there; its event pages and rings are in the run memory. Times and rights come from the kernel, limits from
// the presented machine's files.
//
// What /proc says about a task can be missing or late, but a count must never fall. So the last value is cached for
// each task. The caller's own time comes with its request and is exact; that of another task is read from schedstat.
//
// The host is called under the broker's lock, by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "broker/machine/presented_machine_files.h"
#include "broker/run_memory.h"
#include "broker/tasks/run_threads.h"
#include "run/lock_holder.h"
#include "subsystem/host.h"

namespace anyperf::broker {

using subsystem::Answer;
using subsystem::EventIndex;
using subsystem::EventPage;
using subsystem::FilterIndex;
using subsystem::RingIndex;
using subsystem::RingPage;
using subsystem::Source;
using subsystem::TaskId;

class RunHost final : public subsystem::Host {
  public:
    /// `memory`, `threads` and `files` must outlive the host. `limits` are the defaults where `files` have none.
    RunHost(RunMemory& memory, RunThreads& threads, subsystem::Limits limits, MachineFiles& files);
    ~RunHost() override;

    /// What a thread's request says about the thread. It is more recent than what /proc says.
    struct CallerState {
        std::uint64_t task_clock = 0;  ///< ns
        std::uint64_t switches = 0;    ///< context switches, without those of its engine
        std::int32_t cpu = -1;         ///< -1: unknown
    };

    /// A request of this thread is handled from here on until end_request().
    void begin_request(const TaskId& caller, const CallerState& state);
    void end_request() { caller_ = {}; }
    /// Returns the events whose poll state has changed since the last call.
    std::vector<EventIndex> take_poll_changes();
    /// Drops what is cached about the thread of this page, which has ended.
    void forget_thread(std::uint32_t thread_page);

    std::uint64_t clock(std::int32_t clockid) override;
    std::uint64_t task_clock(const TaskId& task) override;
    std::uint64_t value(const TaskId& task, const Source& source) override;
    void call_ended() override;
    Answer<TaskId> find_task(const TaskId& caller, std::int32_t tid) override;
    std::vector<TaskId> living_tasks() override;
    std::int32_t shown_id(std::int32_t id) override { return memory_.shown_id(id); }
    std::int32_t cpu(const TaskId& task) override;
    bool in_cgroup(const TaskId& task, std::uint64_t cgroup) override;
    subsystem::Credentials credentials(const TaskId& caller) override;
    subsystem::MemoryAccount memory_account(const TaskId& caller) override;
    bool may_measure(const TaskId& caller, const TaskId& task) override;
    subsystem::Limits limits() override;
    void set_active_events(const TaskId& task, const subsystem::ActiveEvents& events) override;
    void request_safepoint(const TaskId& task) override;
    void poll_changed(EventIndex event) override { poll_changes_.push_back(event); }
    EventIndex new_event_page(const TaskId* counted) override;
    EventPage& event_page(EventIndex event) override { return memory_.event(event); }
    void free_event_page(EventIndex event) override;
    FilterIndex new_filter(const subsystem::Filter& filter) override;
    void free_filter(FilterIndex filter) override;
    RingIndex new_ring(std::uint32_t data_pages) override;
    RingPage& ring_page(RingIndex ring) override;
    /// The memory of the ring is not given to another one: a program keeps it mapped that has left the ring's run
    /// memory.
    void retire_ring(RingIndex ring);
    std::span<std::byte> ring_memory(RingIndex ring) override;
    std::uint64_t ring_offset(RingIndex ring) override;
    void free_ring(RingIndex ring) override;
    std::int32_t lock_holder() override { return run::kBrokerHolder; }
    bool is_abandoned(std::int32_t holder) override;
    bool is_out_of_patience() override { return is_out_of_patience_; }

  private:
    /// The last known values of a task. A moment is the time between two calls of call_ended(), in which a task's
    /// values must not change.
    struct TaskCache {
        std::int32_t tid = 0;             ///< the thread that the values are of; pages are used again
        std::uint64_t clock = 0;          ///< the last task clock returned; it never falls
        std::uint64_t clock_moment = 0;   ///< the moment in which `clock` was read
        run::CopiedCounts counts{};       ///< of one moment
        std::uint64_t counts_moment = 0;  ///< the moment of that copy
        std::int32_t cpu = -1;            ///< the CPU of its last request
        std::uint64_t migrations =
            0;  ///< the last number read; without /proc/PID/sched, changes of `cpu` between requests
        std::uint64_t switches = 0;  ///< the last number read
        bool gone = false;           ///< the task is no longer in /proc
    };

    /// The living thread of the run that the kernel knows by the ids `wanted`, and the caller by the id `tid`.
    std::optional<TaskId> find_live_thread(const KernelIds& wanted, std::int32_t tid) const;
    KernelIds kernel_ids(const TaskId& task) const { return threads_.kernel_ids(task); }
    /// The cache of the task; an empty one if its page was another thread's.
    TaskCache& cached(const TaskId& task);
    /// The counts of the task, read once a moment.
    const run::CopiedCounts& counts_of(const TaskId& task);
    std::uint64_t context_switches(const TaskId& task);
    std::uint64_t cpu_migrations(const TaskId& task);
    bool is_caller(const TaskId& task) const { return task == caller_; }
    bool has_run_clock() const { return memory_.header().deterministic != 0; }
    /// The clock of a deterministic run, in units, as of the caller's request.
    std::uint64_t run_clock() const {
        return __atomic_load_n(&memory_.use(memory_.user_of_page(caller_.thread_page)).clock, __ATOMIC_RELAXED);
    }

    RunMemory& memory_;
    RunThreads& threads_;
    subsystem::Limits limits_;
    MachineFiles& machine_files_;
    TaskId caller_;
    std::uint64_t moment_ = 1;
    std::unordered_map<std::uint32_t, TaskCache> tasks_;  ///< by thread page
    run::LockPatience patience_;  ///< of the subsystem's current call, for all its locks together
    bool is_out_of_patience_ = false;
    std::vector<EventIndex> poll_changes_;
    std::vector<EventIndex> free_events_;
    EventIndex next_event_ = 1;
    /// A filter that events share. Threads read the copy in the run's facts.
    struct SharedFilter {
        std::uint32_t users = 0;
        std::unique_ptr<subsystem::Filter> filter;
    };
    /// Where a ring is. Threads read the offset from RingPage.
    struct RingPlace {
        std::span<std::byte> memory;  ///< mapped here
        std::uint64_t offset = 0;     ///< in the memfd
        UserNumber user = 0;          ///< whose memfd: that of the program that has mapped the ring first
        bool retired = false;         ///< its memory is not used again
    };

    std::vector<SharedFilter> filters_;  ///< by FilterIndex
    std::vector<RingIndex> free_rings_;
    RingIndex next_ring_ = 1;
    std::map<RingIndex, RingPlace> ring_places_;
    std::uint64_t rings_end_;  ///< in the memfds; every ring that was ever made is below it
    /// Of freed rings: user and bytes, offset.
    std::multimap<std::pair<UserNumber, std::uint64_t>, std::uint64_t> free_ring_memory_;
};

}  // namespace anyperf::broker
