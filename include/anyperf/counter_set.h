// counter_set.h: many events counted for a target that may be many threads or CPUs, opened and read together. This is
// what `anyperf stat` uses.
//
// A target is resolved to places (one thread, or one CPU), and every group of events is opened in every place. A result
// is therefore a matrix of events × places; total() adds up the places.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "anyperf/group.h"

namespace anyperf::counting {

/// What to do if the kernel refuses an event.
enum class OnRefusal {
    fail,  ///< open() fails, and nothing is left open
    keep,  ///< open() succeeds with the other events, even if none is left; refusal() explains the refused ones
};

/// How a set is opened.
struct SetOptions {
    OpenOptions open = {};  ///< for every event; an event's own `inherit` term has precedence
    OnRefusal on_refusal = OnRefusal::fail;
    /// If this process may not count an event in kernel mode, count it in user mode only; user_only() reports that. Not
    /// done for events that never happen in user mode, and not for CPUs, the system or a cgroup (Target::cpu_wide()).
    bool fall_back_to_user = false;
};

/// False if the event can only happen in kernel mode (context-switches, most tracepoints), so that with the modifier u
/// its count is always 0.
bool happens_in_user_mode(const events::Event& event);

/// Why an event is not counted.
struct Refusal {
    int errno_value = 0;
    Error error;
};

/// An open set. Events are numbered from 0, in order through all groups; places have their index in places().
/// Move-only; its destructor closes everything. It may be used by one thread at a time.
class CounterSet {
  public:
    /// Opens every group in every place of `target`. On failure nothing stays open. `kernel` must outlive the set.
    ///
    /// - Threads that end while they are opened are left out.
    /// - A process may create threads while it is opened. With `inherit` all events are closed and opened again until
    ///   no thread appeared meanwhile, so that none is missed or counted twice; stable() is false if that was given up.
    ///   Without `inherit` the new threads are opened, too.
    /// - A refused event is removed from its group; the other members stay a group. An event that is counted apart
    ///   (Kernel::is_apart) leaves its group, too, and is counted alone.
    /// - An event that can't be bound to a task (uncore) counts everything on its CPUs.
    /// - On CPUs and for a cgroup there is neither an exec nor a child: Start::on_exec means Start::enabled there, and
    ///   OpenOptions::inherit has no effect.
    ///
    /// Error: an event was refused (OnRefusal::fail), the target doesn't exist, or a call failed for another reason,
    /// such as too many open descriptors.
    static Result<CounterSet> open(std::span<const events::EventGroup> groups, const Target& target,
                                   const SetOptions& options, Kernel& kernel = system_kernel());

    /// Reads every group; count() and total() return the values of the last read. Allocates no memory if it succeeds.
    /// After an Error some counts are new and others old.
    Result<void> read();
    /// Enables, disables, resets (count 0, times continue) every group. An Error stops at the group that failed.
    Result<void> enable();
    Result<void> disable();
    Result<void> reset();
    /// Enable or disable one event where it is open. A member of a group counts only while its leader is enabled, too.
    Result<void> enable(std::size_t event);
    Result<void> disable(std::size_t event);

    /// Makes a tracepoint count, in every place, only the occurrences for which `filter` holds:
    /// "prev_pid == 0 && next_prio < 100" (Documentation/trace/events.rst, "Event filtering"). Error: the kernel
    /// refuses the filter.
    Result<void> set_filter(std::size_t event, const std::string& filter);

    /// How many events there are, refused ones included.
    std::size_t events() const { return refusals_.size(); }
    /// Where they are counted.
    std::span<const Place> places() const { return places_; }

    /// One event in one place; Count::counted() is false if it isn't open there.
    const Count& count(std::size_t event, std::size_t place) const { return counts_[place * events() + event]; }
    /// One event, summed over all places.
    Count total(std::size_t event) const;

    /// Why an event is not counted anywhere; null if it is counted.
    const Refusal* refusal(std::size_t event) const { return refusals_[event] ? &*refusals_[event] : nullptr; }
    /// The event should count kernel mode too, but counts user mode only (SetOptions::fall_back_to_user).
    bool user_only(std::size_t event) const { return user_only_[event]; }
    /// False if a process created threads faster than they could be opened, so that a few may be missing.
    bool stable() const { return stable_; }

  private:
    friend class SetOpener;
    CounterSet() = default;

    /// One group in one place.
    struct Opened {
        Group group;
        std::size_t place;                 ///< index of places_
        std::vector<std::size_t> members;  ///< event numbers, in the order of the group
    };

    std::vector<Place> places_;
    std::vector<Opened> groups_;
    std::vector<Count> counts_;   ///< places × events
    std::vector<Count> reading_;  ///< room for one group, so that read() allocates nothing
    std::vector<std::optional<Refusal>> refusals_;
    std::vector<bool> user_only_;
    bool stable_ = true;
};

}  // namespace anyperf::counting
