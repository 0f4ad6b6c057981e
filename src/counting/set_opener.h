// set_opener.h: opens the events of a CounterSet: which places, what to do with a refusal, threads that come and go.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "anyperf/counter_set.h"

namespace anyperf::counting {

class SetOpener {
  public:
    SetOpener(std::span<const events::EventGroup> groups, const Target& target, const SetOptions& options,
              Kernel& kernel);

    Result<CounterSet> open();

  private:
    /// How opening went; `again`: an event was given up or restricted after it had been opened elsewhere.
    enum class Progress { done, again, vanished };

    Result<Progress> open_target();
    Result<Progress> open_processes();
    Result<Progress> open_tasks(std::span<const pid_t> tids);
    Result<Progress> open_newcomers(std::vector<pid_t> known);
    Result<Progress> open_cgroup();
    Result<Progress> open_cpus(pid_t pid, bool cgroup, std::span<const int> cpus);
    Result<Progress> open_uncore();
    Result<Progress> open_place(Place place, bool cpu_wide_only = false);
    Result<Progress> open_members(std::vector<std::size_t> members, Place place, bool weak);
    Result<Progress> after_refusal(std::size_t event, Place place, int errno_value);
    bool restrict_to_user(std::size_t event, int errno_value);
    std::vector<std::size_t> members_for(const std::vector<std::size_t>& group, Place place, bool cpu_wide_only) const;
    std::vector<pid_t> threads_of_processes() const;
    std::vector<int> wanted_cpus() const;
    Error explain(std::size_t event, Place place, int errno_value) const;
    std::optional<Error> explained_before(std::size_t event, int errno_value) const;
    void forget_opened();
    bool opened_elsewhere(std::size_t event) const;

    const Target& target_;
    SetOptions options_;
    Kernel& kernel_;
    std::vector<events::Event> events_;             ///< flat; restricted to user mode where that was the fallback
    std::vector<std::vector<std::size_t>> groups_;  ///< numbers of events
    std::vector<bool> weak_;
    CounterSet set_;
};

}  // namespace anyperf::counting
