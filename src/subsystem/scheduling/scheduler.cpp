// scheduler.cpp: which groups of a task are on their PMUs: ctx_sched_in() and what it calls, for one task at a time.
//
// In a run nothing has to be loaded into registers: an active event counts by the growth of a live counter. Groups
// compete nevertheless, if the PMU is said to have counters, so that programs see the multiplexing that they would see
// on hardware. Most tasks have no such group. Then a group's state depends on nothing else, and its thread may change
// it without a request (local_toggle.h).
//
// With contention all hardware groups of the task are placed anew at each change, by rank: cpu-wide pinned groups, the
// task's pinned ones, cpu-wide flexible ones, the task's flexible ones. Once a flexible group has not fitted, later
// ones are not tried (merge_sched_in(), `can_add_hw`). Rotation moves a group to the end of the list, so that each of
// them is the first at some time.
#include "subsystem/scheduling/scheduler.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "abi/attr_flags.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/group_links.h"
#include "subsystem/events/group_lock.h"
#include "subsystem/scheduling/active_events.h"
#include "subsystem/scheduling/counter_assignment.h"
#include "subsystem/shared/local_toggle.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kPinned = abi::flag("pinned");
constexpr auto kExclusive = abi::flag("exclusive");

/// Whether the event can keep others from counting: it needs a counter, or the PMU for itself.
bool contends(const Event& event) {
    return event.wiring.counters != 0 || (event.flag(kExclusive) && !event.wiring.software);
}

/// The hardware PMU that the group needs. Null for a group of software events only.
const Pmu* hardware_pmu(const Event& leader) {
    if (!leader.wiring.software) return leader.pmu;
    for (const Event* sibling : leader.siblings)
        if (!sibling->wiring.software) return sibling->pmu;
    return nullptr;
}

/// What the groups placed so far occupy of one PMU.
struct PmuOccupancy {
    CounterAssignment counters;
    bool any = false;        ///< some group is on it
    bool exclusive = false;  ///< that group does not share it
    bool blocked = false;    ///< a flexible group did not fit, so all later flexible groups wait
};

/// Places the enabled members of a group together, or none of them.
bool try_add(PmuOccupancy& occupancy, const Event& leader) {
    const bool alone = leader.flag(kExclusive);
    if (occupancy.exclusive || (alone && occupancy.any)) return false;
    std::vector<std::uint64_t> masks;
    for (const Event* member : members(leader))
        if (member->is_enabled()) masks.push_back(member->wiring.counters);
    if (!occupancy.counters.add(masks)) return false;
    occupancy.any = true;
    occupancy.exclusive = alone;
    return true;
}

constexpr int kRanks = 4;

/// cpu-wide before the task's own, pinned before flexible.
int rank(const Event* leader) {
    return (leader->flag(kPinned) ? 0 : 2) + (leader->kind == Kind::cpu_wide_part ? 0 : 1);
}

/// Gives the leader the state, and each sibling the one that follows from its own requested state under that.
void apply_state(World& world, Event& leader, EventState state) {
    for (Event* member : members(leader))
        set_state(world, *member, member->is_leader() ? state : state_under(member->requested_state(), state));
}

/// Whether the event's thread may toggle it without a request: no other group's state and no PMU depends on it.
bool can_toggle_locally(const Event& event) {
    const bool anywhere = event.cpu == -1 && !event.cgroup;
    return event.kind == Kind::opened && event.task && anywhere && event.task->contenders == 0 &&
           is_known_to_thread(event.source());
}

void update_local_toggle(World& world, Event& event) {
    const std::uint32_t may = can_toggle_locally(event) ? 1 : 0;
    if (event.page->may_toggle_locally == may) return;
    lock_group(world, event);
    event.page->may_toggle_locally = may;
}

/// `by` is 1 or -1 (as unsigned). Between no contender and some, all events of the task gain or lose local toggling.
void change_contenders(World& world, Task& task, std::uint32_t by) {
    const bool before = task.contenders != 0;
    task.contenders += by;
    if (before == (task.contenders != 0)) return;
    for (Event* leader : task.leaders)
        for (Event* member : members(*leader)) update_local_toggle(world, *member);
}

/// The state of a group that competes with no other.
EventState state_without_contention(World& world, const Event& leader) {
    if (!leader.is_enabled()) return leader.requested_state();
    if (is_on_cpu(world, leader)) return EventState::active;
    // A cpu-wide event's time running is the CPU's, less the time for which its parts lacked a counter (read.cpp). A
    // task on another CPU must not add to that, so its part is off there, not inactive.
    const bool elsewhere = leader.kind == Kind::cpu_wide_part && leader.cpu != leader.task->cpu;
    return elsewhere ? EventState::off : EventState::inactive;
}

/// A pinned group that does not fit goes into error state and stays there until it is enabled again; its pollers see
/// POLLERR. A flexible one waits.
EventState state_with_contention(World& world, Event& leader, PmuOccupancy& occupancy, bool& waits) {
    const EventState requested = state_without_contention(world, leader);
    if (requested != EventState::active) return requested;
    const bool pinned = leader.flag(kPinned);
    if ((pinned || !occupancy.blocked) && try_add(occupancy, leader)) return EventState::active;
    if (pinned) {
        world.host.poll_changed(leader.index);
        return leader.page->requested_state = EventState::error;
    }
    occupancy.blocked = waits = true;
    return EventState::inactive;
}

/// Places all hardware groups of a task in which some contend, rank by rank.
void arbitrate(World& world, Task& task) {
    std::vector<std::pair<Event*, const Pmu*>> order;
    order.reserve(task.leaders.size());
    for (int place = 0; place < kRanks; ++place)
        for (Event* leader : task.leaders)
            if (const Pmu* pmu = hardware_pmu(*leader); pmu && rank(leader) == place) order.emplace_back(leader, pmu);

    std::map<const Pmu*, PmuOccupancy> occupancies;
    std::vector<std::pair<Event*, EventState>> outcome;
    outcome.reserve(order.size());
    bool waits = false;
    for (const auto& [leader, pmu] : order)
        outcome.emplace_back(leader, state_with_contention(world, *leader, occupancies[pmu], waits));
    note_waiting(world, task, waits);

    // Groups that lose their counters come first, so that no counter has two events at a time.
    for (const auto& [leader, state] : outcome)
        if (state != EventState::active) apply_state(world, *leader, state);
    for (const auto& [leader, state] : outcome)
        if (state == EventState::active) apply_state(world, *leader, state);
}

/// ctx_event_to_rotate(): the first active flexible group moves to the end, or the first of all if none is active.
void rotate_groups(Task& task, bool cpu_wide) {
    auto groups = task.leaders | std::views::filter([cpu_wide](const Event* leader) {
                      return !leader->flag(kPinned) && leader->is_enabled() && hardware_pmu(*leader) &&
                             (leader->kind == Kind::cpu_wide_part) == cpu_wide;
                  });
    auto chosen =
        std::ranges::find(groups, EventState::active, [](const Event* leader) { return leader->page->state; });
    if (chosen == groups.end()) chosen = groups.begin();
    if (chosen == groups.end()) return;
    Event* const leader = *chosen;
    task.leaders.splice(task.leaders.end(), task.leaders, leader->position_in_leaders);
}

}  // namespace

bool is_on_cpu(World& world, const Event& leader) {
    if (!leader.task) return true;
    if (leader.cpu >= 0 && leader.cpu != leader.task->cpu) return false;
    return !leader.cgroup || world.host.in_cgroup(leader.task->id, *leader.cgroup);
}

void join_leaders(Task& task, Event& leader) {
    leader.position_in_leaders = task.leaders.insert(task.leaders.end(), &leader);
}

void attach(World& world, Event& event) {
    lock_group(world, event);
    if (!event.is_leader()) event.leader->siblings.push_back(&event);
    link_newest(world, event);
    if (Task* task = event.task) {
        if (event.is_leader()) join_leaders(*task, event);
        add_active_event(world, event);
        if (contends(event)) change_contenders(world, *task, 1);
        update_local_toggle(world, event);
    }
    place_group(world, *event.leader);
}

void detach_from_task(World& world, Event& event) {
    lock_group(world, event);
    Task* task = std::exchange(event.task, nullptr);
    if (!task) return;
    event.page->may_toggle_locally = 0;
    if (event.is_leader()) task->leaders.erase(event.position_in_leaders);
    if (contends(event)) change_contenders(world, *task, ~0u);
    remove_active_event(world, *task, event);
}

void detach(World& world, Event& event) {
    lock_group(world, event);
    detach_from_task(world, event);
    if (event.is_leader()) return;
    std::erase(event.leader->siblings, &event);
    link_all(world, *event.leader);
}

void place_group(World& world, Event& leader) {
    lock_group(world, leader);
    const bool alone = !leader.task || leader.task->contenders == 0 || !hardware_pmu(leader);
    if (alone)
        apply_state(world, leader, state_without_contention(world, leader));
    else
        arbitrate(world, *leader.task);
}

void place_all(World& world, Task& task) {
    for (Event* leader : task.leaders) {
        lock_group(world, *leader);
        if (task.contenders == 0 || !hardware_pmu(*leader))
            apply_state(world, *leader, state_without_contention(world, *leader));
    }
    note_waiting(world, task, false);
    if (task.contenders != 0) arbitrate(world, task);
}

// The interval is measured on the task's own clock: a task that sleeps needs no rotation.
void rotate_when_due(World& world, Task& task, std::uint64_t interval) {
    if (!task.waits_for_counters) return;
    const std::uint64_t now = world.host.task_clock(task.id);
    if (now - task.rotated_at < interval) return;
    task.rotated_at = now;
    for (const bool cpu_wide : {true, false}) rotate_groups(task, cpu_wide);
    arbitrate(world, task);
}

}  // namespace anyperf::subsystem
