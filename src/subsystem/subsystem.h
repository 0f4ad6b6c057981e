// subsystem.h: the perf_event subsystem as a library, modelled on kernel/events/core.c of Linux 6.18.
//
// What enters: the system calls that clients make on events (open, read, ioctl, mmap, poll, fcntl, prctl, close), the
// life of tasks (fork, exec, exit, migration), what tasks do that only side-band records report, and ticks that rotate
// groups. What leaves: an answer (a value, or an errno with its reason), event pages and rings in memory that measured
// threads share, and calls of Host and Pmu. The subsystem knows neither the engine nor the machine: Host and Pmu are
// its only dependencies, so unit tests run it on variables.
//
// Promises:
//   - Single-threaded and deterministic. A call is complete when it returns. For the length of a call a task's clock
//     and counts stand still (Host::call_ended ends that), so the members of a group change at one moment.
//   - The kernel's order of checks. A request with two mistakes gets the errno of the one that Linux 6.18 finds first;
//     open.cpp lists the steps. A refused call has changed nothing that a client can see.
//   - No call waits for a measured thread, except for a lock on a page. A thread holds one for some instructions only,
//     and a holder that was killed or stopped is detected (shared/page_lock.h).
//
// An event is named by the index of its page. A client's descriptor names it from `open` until `close`. A call with an
// index that names no open event answers EBADF (poll: hang_up), or does nothing if it has no answer. The event itself
// lives until it has neither a descriptor nor a mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "subsystem/answer.h"
#include "subsystem/host.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/records/kernel_text.h"
#include "subsystem/records/mappings.h"
#include "subsystem/records/record_interests.h"
#include "subsystem/records/tasks.h"
#include "subsystem/requests.h"

namespace anyperf::subsystem {

class Subsystem {
  public:
    /// `pmus` are asked for an event in this order. They and the host must outlive the subsystem.
    Subsystem(Host& host, std::vector<Pmu*> pmus);
    ~Subsystem();
    Subsystem(const Subsystem&) = delete;
    Subsystem& operator=(const Subsystem&) = delete;

    // ---- system calls of clients ----

    /// perf_event_open(2). If the refusal has an `attr_size`, the host writes it to the caller's attr.size.
    Answer<EventIndex> open(const OpenRequest& request);
    /// The last descriptor has been closed. A mapping keeps the event alive.
    void close(EventIndex event);
    /// read(2). The answer has exactly the bytes of read_format's layout, or none for an event in error state (end of
    /// file). ENOSPC if `buffer_bytes` is less.
    Answer<std::vector<std::uint64_t>> read(EventIndex event, std::size_t buffer_bytes);
    Answer<IoctlAnswer> ioctl(const TaskId& caller, EventIndex event, std::uint32_t request,
                              const IoctlArgument& argument);
    Answer<Mapping> map(EventIndex event, const MapRequest& request);
    /// One mapping is gone, in whatever process it was (munmap, exec, exit).
    void unmap(EventIndex event, const Mapping& mapping);
    /// poll(2), without waiting. A wake-up is reported once: this call clears it.
    PollState poll(EventIndex event);
    /// fcntl(2) F_SETOWN, F_SETSIG, O_ASYNC: where the signal of an overflow goes, for the event and its children.
    void notify(EventIndex event, const Notify& target);
    /// prctl(2) PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: all events that this thread has opened.
    void prctl(const TaskId& caller, bool enable);

    // ---- tasks ----

    /// The event's thread has disabled the event because its REFRESH limit reached 0. Its siblings, if it leads, stop
    /// with it.
    void refresh_ran_out(EventIndex event);

    /// The event's thread has written enough into the event's ring that its readers must be woken.
    void ring_written(EventIndex event);

    /// To be called before the new task's first instruction, so that inherited events count it from there.
    void task_forked(const TaskId& parent, const TaskId& child, ForkKind kind);
    /// After a successful execve. A thread that is not the leader takes the leader's tid: `was` is the task before,
    /// `task` after. The new name and mappings are reported afterwards (task_comm, task_mapped).
    void task_exec(const TaskId& was, const TaskId& task);
    /// `parent_pid`: the pid of the process's parent, for the EXIT record.
    void task_exit(const TaskId& task, std::int32_t parent_pid = 0);
    /// The task that the event counts; nothing for a cpu-wide event, one whose task has ended, and one not open.
    std::optional<TaskId> task_of(EventIndex event) const;
    /// The events that count the task, children included.
    std::vector<EventIndex> events_of(const TaskId& task) const;
    /// The host has moved the pages of the events that count the task (Host::event_page). Its thread waits meanwhile.
    void pages_moved(const TaskId& task);
    /// Writes a record that the task's thread has made to the ring of `event`, which counts that task. False if it does
    /// not, if the event has no ring, or if `record` is not a whole record that threads write (SAMPLE, THROTTLE,
    /// UNTHROTTLE), or if it was lost.
    bool write_foreign_record(const TaskId& task, EventIndex event, std::span<const std::byte> record);
    /// The task continues on another CPU. None of its instructions run during the call.
    void task_moved(const TaskId& task, std::int32_t cpu);

    // ---- what only side-band records report (records/record_interests.h) ----

    void task_comm(const TaskId& task, std::string_view name, bool by_exec);
    /// The task has renamed another thread of its process, `tid`. As in the kernel, the events of the task that wrote
    /// the name get the record (perf_event_comm_event()).
    void task_renamed_thread(const TaskId& task, std::int32_t tid, std::string_view name);
    void task_mapped(const TaskId& task, const TaskMapping& mapped);
    /// `other` is the task that had the CPU before (in) or has it next (out). The switch was `ago_ns` ago.
    void task_switched(const TaskId& task, SwitchDirection direction, const TaskId& other, std::uint64_t ago_ns = 0);
    void task_namespaces(const TaskId& task, const NamespaceLinks& links);
    /// Some task may have moved to another cgroup.
    void tasks_changed_cgroup();
    void task_made_cgroup(const TaskId& task, std::uint64_t inode, std::string_view path);
    /// The task has loaded a BPF program; `functions` are the kernel symbols of its code.
    void task_loaded_bpf(const TaskId& task, std::span<const KernelSymbol> functions, const BpfProgram& program);
    /// Whether some event wants records of this kind, in any task. If not, the host need not report them.
    bool wanted(Interest interest) const { return (wanted() >> static_cast<unsigned>(interest) & 1) != 0; }
    /// The same for all kinds, a bit each by Interest; kWantsCgroupMoves and kWantsSwitchCounts.
    std::uint32_t wanted() const;

    // ---- time ----

    /// Rotates the groups that wait for counters, in each task that has run for perf_event_mux_interval_ms since its
    /// last rotation.
    void tick();
    /// Whether any task has groups that wait, so that the host must call tick().
    bool needs_tick() const;

    // ---- for the host ----

    /// The number of living events, children included.
    std::size_t events() const;
    /// No event lives: the host need not report what tasks do.
    bool idle() const { return events() == 0; }

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace anyperf::subsystem
