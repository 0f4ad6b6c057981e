// counter_set.h: many events for a target that may be many threads or CPUs, opened and read together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "anyperf/group.h"

namespace anyperf::counting {

/// What to do with an event that the kernel refuses.
enum class OnRefusal {
    fail,  ///< open() fails, and nothing is left open
    keep,  ///< the others are counted, even if there are none; refusal() tells about the refused one
};

struct SetOptions {
    OpenOptions open = {};
    OnRefusal on_refusal = OnRefusal::fail;
    /// An event that one may not count in kernel mode is counted in user mode alone; user_only() tells. Not done for
    /// events that only ever happen in kernel mode.
    bool fall_back_to_user = false;
};

/// False where the event only ever happens in kernel mode (context-switches, most tracepoints): counted with the
/// modifier u it is always 0.
bool happens_in_user_mode(const events::Event& event);

/// Why an event isn't counted.
struct Refusal {
    int errno_value = 0;
    Error error;
};

/// Events (flat, in the order of their groups) × places. Move-only. One thread at a time.
class CounterSet {
  public:
    /// Opens every group in every place of `target`; on failure nothing stays open. Threads that end meanwhile are left
    /// out. With `inherit`, a process that gets new threads while they are being opened is opened again until it got
    /// none, so that no thread is missed or counted twice; stable() tells if that was given up. A member that isn't
    /// counted leaves its group, the others stay a unit. An event that can't be bound to tasks (uncore) counts on its
    /// CPUs for everybody, from the opening on where the start is that of an exec.
    static Result<CounterSet> open(std::span<const events::EventGroup> groups, const Target& target,
                                   const SetOptions& options, Kernel& kernel = system_kernel());

    /// Reads every group. The counts below are as of the last read. Allocates nothing where it succeeds.
    Result<void> read();
    Result<void> enable();
    Result<void> disable();
    Result<void> reset();

    std::size_t events() const { return refusals_.size(); }
    std::span<const Place> places() const { return places_; }

    /// One event in one place. Not counted where it isn't open there.
    const Count& count(std::size_t event, std::size_t place) const { return counts_[place * events() + event]; }
    /// One event over all places.
    Count total(std::size_t event) const;

    /// Why an event isn't counted anywhere; null where it is.
    const Refusal* refusal(std::size_t event) const { return refusals_[event] ? &*refusals_[event] : nullptr; }
    /// The event was to be counted in kernel mode too, and is counted in user mode only.
    bool user_only(std::size_t event) const { return user_only_[event]; }
    /// False where a process made threads faster than they could be opened: a few of them may be missing.
    bool stable() const { return stable_; }

  private:
    friend class SetOpener;
    CounterSet() = default;

    struct Opened {
        Group group;
        std::size_t place;
        std::vector<std::size_t> members;  ///< event numbers, as in the group
    };

    std::vector<Place> places_;
    std::vector<Opened> groups_;
    std::vector<Count> counts_;
    std::vector<Count> reading_;
    std::vector<std::optional<Refusal>> refusals_;
    std::vector<bool> user_only_;
    bool stable_ = true;
};

}  // namespace anyperf::counting
