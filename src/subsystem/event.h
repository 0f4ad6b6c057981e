// event.h: an event as the subsystem keeps it: what of it no measured thread needs to see, beside its page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "anyperf/attr.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/task.h"

namespace anyperf::subsystem {

/// How an event came to be.
enum class Kind : std::uint8_t {
    opened,
    inherited,  ///< its task is a descendant of `parent`'s
    of_cpu,     ///< the part that one task has in the cpu-wide event `parent`
};

/// What children that are no more have left to their parent.
struct Bequest {
    std::uint64_t count = 0;
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
    std::uint64_t lost = 0;
};

struct Event {
    EventIndex index = 0;
    EventPage* page = nullptr;
    abi::Attr attr;
    Pmu* pmu = nullptr;
    Wiring wiring;
    Kind kind = Kind::opened;

    Task* task = nullptr;   ///< whom it counts; null: a cpu-wide event, or one that has left its task
    bool cpu_wide = false;  ///< opened with pid -1
    std::int32_t cpu = -1;
    std::optional<std::uint64_t> cgroup;

    /// The page's state when the PMU was last told. Another one found there is its own thread's doing.
    EventState written = EventState::off;
    bool held = false;  ///< of a leader: the subsystem has the group's lock until the call ends (group_hold.h)

    Event* armed_before = nullptr;  ///< in its thread's list (armed_list.h)
    Event* armed_after = nullptr;

    EventList::iterator in_leaders;  ///< of a leader that has a task: its place in Task::leaders
    EventList::iterator in_opened;   ///< while it has an `opener`: in Task::opened

    Event* leader = nullptr;       ///< itself, if it leads
    std::vector<Event*> siblings;  ///< of a leader, in order of creation
    Event* parent = nullptr;       ///< the opened event whose descriptor reads it, too
    std::vector<Event*> children;
    Bequest bequest;

    Task* opener = nullptr;      ///< whom prctl asks; null once that has ended, and for children
    bool descriptor = true;      ///< not yet closed
    std::uint32_t mappings = 0;  ///< of its own making; a redirected event has none

    bool leads() const { return leader == this; }
    bool in_task() const { return task != nullptr; }
    /// What it was told to be; to be asked while the group is held.
    EventState own() const { return page->own; }
    bool wants() const { return own() >= EventState::inactive; }
    bool flag(std::uint64_t mask) const { return (attr.flags & mask) != 0; }
};

/// The leader and then its siblings.
inline std::vector<Event*> members(const Event& event) {
    std::vector<Event*> all{event.leader};
    all.insert(all.end(), event.leader->siblings.begin(), event.leader->siblings.end());
    return all;
}

}  // namespace anyperf::subsystem
