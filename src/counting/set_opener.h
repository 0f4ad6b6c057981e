// set_opener.h: opens the events of a CounterSet: resolves the target to places, opens every group in each, and handles
// refusals and threads that come and go meanwhile. Used once, by CounterSet::open().
//
// A refusal can come late: an event may be refused in the tenth place after it was opened in nine. Then the set would
// hold counts of different meaning, so everything is closed and opened again without that event, or with it restricted
// to user mode (Progress::again). Each round changes one event for good, so the rounds end.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "anyperf/counter_set.h"

namespace anyperf::counting {

/// `groups` are copied; `target` and `kernel` must live until open() returns.
class SetOpener {
  public:
    SetOpener(std::span<const events::EventGroup> groups, const Target& target, const SetOptions& options,
              Kernel& kernel);

    /// The open set. Call it once.
    Result<CounterSet> open();

  private:
    /// The result of opening a part of the target.
    enum class Progress {
        done,
        again,     ///< an event was given up or restricted after it had been opened elsewhere: start over
        vanished,  ///< the thread or process has ended
    };

    // What to open, from the whole target down to one group in one place. An Error is final.

    void add_group(std::vector<std::size_t> members, bool weak);
    Result<Progress> open_target();
    /// All threads of all processes, so that none is missed or counted twice: see set_opener.cpp.
    Result<Progress> open_processes();
    /// `vanished` only if every one of them has ended.
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
    /// Of all processes of the target, sorted, each once.
    std::vector<pid_t> threads_of_processes() const;
    /// The CPUs that the target names, or all online ones.
    std::vector<int> wanted_cpus() const;
    /// `search` looks for the cause on this machine, which is not needed if it is known already.
    Error explain(std::size_t event, int errno_value, const std::function<Error()>& search) const;
    /// For the first event. There must be one.
    Error no_such_task(pid_t pid) const;
    std::optional<Error> known_explanation(std::size_t event, int errno_value) const;
    /// Closes what is open, but keeps what was learned about refused events.
    void close_opened();
    /// Whether the event is open in some place already.
    bool is_open_elsewhere(std::size_t event) const;

    const Target& target_;
    SetOptions options_;
    Kernel& kernel_;
    std::vector<events::Event> events_;             ///< of all groups; with exclude_kernel after a fallback
    std::vector<std::vector<std::size_t>> groups_;  ///< indexes of events_
    std::vector<bool> weak_;                        ///< by group: it may be broken up (:W)
    CounterSet set_;                                ///< what is open so far
};

}  // namespace anyperf::counting
