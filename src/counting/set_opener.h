// set_opener.h: opens the events of a CounterSet: resolves the target to places, opens every group in each, and handles
// refusals and threads that come and go meanwhile. Only CounterSet::open() uses it.
//
// A refusal can come late: an event may be refused in the tenth place after it was opened in nine. Its count would then
// cover other places than the counts of the other events, or user mode in one place only. So everything is closed and
// opened again without that event, or with the event restricted to user mode (Progress::again). Each round changes one
// event for good, so the rounds end.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "anyperf/counter_set.h"

namespace anyperf::counting {

/// `groups` are copied. `target` must live until open() returns, `kernel` as long as the CounterSet.
class SetOpener {
  public:
    SetOpener(std::span<const events::EventGroup> groups, const Target& target, const SetOptions& options,
              Kernel& kernel);

    /// The open set. To be called once.
    Result<CounterSet> open();

  private:
    /// The result of opening a part of the target.
    enum class Progress {
        done,
        again,     ///< an event that is open in some place was given up or restricted: start over
        vanished,  ///< the thread or process has ended
    };

    // What to open, from the whole target down to one group in one place. An Error is final.

    void add_group(std::vector<std::size_t> members, bool weak);
    Result<Progress> open_target();
    /// Opens all threads of all processes. set_opener.cpp explains how none is missed or counted twice.
    Result<Progress> open_processes();
    /// `vanished` only if every task of the target has ended.
    Result<Progress> open_tasks(std::span<const pid_t> tids);
    /// Opens the threads that are not in `known` (sorted) until there are no new ones.
    Result<Progress> open_new_threads(std::vector<pid_t> known);
    Result<Progress> open_cgroup();
    Result<Progress> open_cpus(pid_t pid, bool cgroup, std::span<const int> cpus);
    Result<Progress> open_uncore();
    Result<Progress> open_place(Place place, bool cpu_wide_only = false);
    Result<Progress> open_members(std::vector<std::size_t> members, Place place, bool weak);

    Result<Progress> handle_refusal(std::size_t event, int errno_value, const std::function<Error()>& search);
    bool restrict_to_user(std::size_t event, int errno_value);
    std::vector<std::size_t> members_for(const std::vector<std::size_t>& group, Place place, bool cpu_wide_only) const;
    /// The threads of all processes of the target, sorted, each once.
    std::vector<pid_t> threads_of_processes() const;
    /// The CPUs that the target names, or all online ones.
    std::vector<int> wanted_cpus() const;
    /// `search` looks for the cause on this machine. It is called only if nothing else knows the cause.
    Error explain(std::size_t event, int errno_value, const std::function<Error()>& search) const;
    /// The Error for a process or thread that does not exist. It names the first event; there must be one.
    Error no_such_task(pid_t pid) const;
    std::optional<Error> known_explanation(std::size_t event, int errno_value) const;
    /// Closes what is open, but keeps what was learned about refused events.
    void close_opened();
    /// Whether the event is open in some place already.
    bool is_open_elsewhere(std::size_t event) const;

    const Target& target_;
    SetOptions options_;
    Kernel& kernel_;
    std::vector<events::Event> events_;             ///< of all groups; restrict_to_user() sets exclude_kernel in them
    std::vector<std::vector<std::size_t>> groups_;  ///< of each group, the indexes of its members in events_
    std::vector<bool> weak_;                        ///< of each group, whether it may be broken up (:W)
    CounterSet set_;                                ///< what is open so far
};

}  // namespace anyperf::counting
