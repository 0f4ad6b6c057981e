// run_threads.h: the broker's own record of which thread of the machine has which thread page. Programs write what a
// page says about its thread, so it is only a hint. The broker reads it once, compares it with what the kernel says,
// and keeps the result here. Code that needs rights, times or a signal's target asks this record, never the page.
//
// There are three ways to learn of a thread:
//
//   a request      The kernel names the process that has sent it (SCM_CREDENTIALS, unix(7)). The thread must be one of
//                  that process, and the page must not be a living thread's of another process.
//   a birth        The kernel has given the parent, or this process, the id of a new child.
//   a page         A thread that has not asked for anything is the target of an open. The page gives its id, and the
//                  kernel must say that such a thread runs the engine. So a forged page cannot make the broker signal
//                  a stranger.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "broker/run_memory.h"
#include "broker/tasks/kernel_ids.h"
#include "subsystem/host.h"

namespace anyperf::broker {

class RunThreads {
  public:
    /// `memory` must outlive this object.
    explicit RunThreads(const RunMemory& memory) : memory_(memory) {}

    /// The thread that has sent a request. `pid` is its process as the kernel reports it, `tid` and `page` are what the
    /// request says. Nothing if the process has no such thread or does not run the engine, or if the page is another
    /// thread's.
    std::optional<subsystem::TaskId> sender(std::uint32_t page, std::int32_t pid, std::int32_t tid);
    /// The thread that has the page; nothing if it is not alive or not of this run.
    std::optional<subsystem::TaskId> find(std::uint32_t page);
    /// Records a thread that the kernel has named to the broker or to the thread's parent.
    void add(const subsystem::TaskId& task, const KernelIds& kernel);
    void forget(std::uint32_t page) { known_.erase(page); }

    /// The ids by which the kernel knows the task; none if this record does not have the task. The ids of a task
    /// without a page are the kernel's already.
    KernelIds kernel_ids(const subsystem::TaskId& task) const;
    /// A living thread of the run that calls itself `tid`. There can be several, in different pid namespaces.
    KernelIds called(std::int32_t tid) const;
    /// The known threads of a process.
    std::vector<subsystem::TaskId> threads_of(std::int32_t pid) const;
    bool knows(std::uint32_t page) const { return known_.contains(page); }
    /// Whether the process runs the engine. If that cannot be found out, the answer is yes, since the kernel refuses
    /// what the user may not do to that process. For a broker that is root it is no, since the kernel refuses root
    /// nothing.
    bool runs_engine(std::int32_t pid) const;

  private:
    struct Known {
        subsystem::TaskId task;
        KernelIds kernel;
    };

    /// The thread that the page names, if the kernel confirms that it exists and runs the engine.
    std::optional<Known> look_up(std::uint32_t page, std::int32_t tid) const;
    /// Whether the page belongs to a living thread of another process than `pid`.
    bool is_taken(std::uint32_t page, std::int32_t pid) const;

    const RunMemory& memory_;
    std::unordered_map<std::uint32_t, Known> known_;  ///< by thread page
};

}  // namespace anyperf::broker
