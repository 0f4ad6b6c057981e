// event.h: the subsystem's half of an event. The other half, EventPage, is shared with the thread that it counts. This
// half has what no measured thread needs: attr, PMU, group, parent and children.
//
// States. The page's `requested_state` is what clients asked for, or exited, or error. `state` follows from it: a
// member of a group whose leader is off is off, and a group without counters is inactive. Both live in the page only,
// because the event's thread may change them there (shared/local_toggle.h): this struct has no copy that could be
// stale, except `pmu_state`, the state that the PMU was last informed of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "anyperf/attr.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/tasks/task.h"

namespace anyperf::subsystem {

/// How an event was created.
enum class Kind : std::uint8_t {
    opened,
    inherited,      ///< by fork: its task is a descendant of `parent`'s
    cpu_wide_part,  ///< counts one task for the cpu-wide event `parent`
};

/// The totals of children that have ended, added to their parent's counts in each read.
struct InheritedTotals {
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

    Task* task = nullptr;    ///< the task that it counts; null: a cpu-wide event, or its task has ended
    bool cpu_wide = false;   ///< opened with pid -1
    bool user_reads = true;  ///< it may be read by rdpmc: Limits::rdpmc when it was opened
    std::int32_t cpu = -1;
    std::optional<std::uint64_t> cgroup;

    // The subsystem's own copies of fields of the page that it relies on. Programs can write the page, so these fields
    // are not read back from there.
    RingIndex ring = 0;      ///< EventPage::ring
    FilterIndex filter = 0;  ///< EventPage::filter; of a child, its parent's

    /// The page's state when the PMU was last informed. If the page differs, the event's thread has changed it.
    EventState pmu_state = EventState::off;
    bool group_locked = false;  ///< leaders: the subsystem holds the group's lock until the call ends (group_lock.h)

    Event* previous_active = nullptr;  ///< neighbours in its thread's list of active events (active_events.h)
    Event* next_active = nullptr;

    EventList::iterator position_in_leaders;  ///< leaders with a task: position in Task::leaders
    QueuePlace queue_place;                   ///< leaders with a task: their place in `queue`, if they are in one
    CounterQueue* queue = nullptr;            ///< leaders that want counters, where groups contend for them
    EventList::iterator position_in_opened;   ///< while `opener` is set: position in Task::opened

    Event* leader = nullptr;       ///< itself, if it leads
    std::vector<Event*> siblings;  ///< leaders: in order of creation
    Event* parent = nullptr;       ///< of a child: the opened event whose descriptor reads it
    std::vector<Event*> children;
    InheritedTotals inherited_totals;

    Task* opener = nullptr;      ///< the task whose prctl switches it; null for children, and once that task has ended
    bool has_descriptor = true;  ///< not closed yet
    std::uint32_t mappings = 0;  ///< of its own ring; a redirected event has none

    bool is_leader() const { return leader == this; }
    /// A caller that changes something because of it locks the group first: the event's thread may change it
    /// (group_lock.h).
    EventState requested_state() const { return page->requested_state; }
    bool is_enabled() const { return requested_state() >= EventState::inactive; }
    bool flag(std::uint64_t mask) const { return (attr.flags & mask) != 0; }
    /// Whether it overflows, as EventPage::sampling.
    bool samples() const { return attr.sample_period != 0; }
    const Source& source() const { return wiring.source; }
};

/// All members of the event's group: the leader, then its siblings.
inline std::vector<Event*> members(const Event& event) {
    std::vector<Event*> all{event.leader};
    all.insert(all.end(), event.leader->siblings.begin(), event.leader->siblings.end());
    return all;
}

/// All events that count the task, group by group.
inline std::vector<Event*> events_of(const Task& task) {
    std::vector<Event*> all;
    for (const Event* leader : task.leaders) {
        const auto group = members(*leader);
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

}  // namespace anyperf::subsystem
