// scheduler.cpp: which groups of a task are on their PMUs: ctx_sched_in() and what it calls, for one task at a time.
//
// In a run nothing has to be loaded into registers: an event counts by the growth of its source. Groups compete
// nevertheless, if the PMU presents counters, so that programs see the multiplexing that they would see on hardware.
// Most tasks have no such group. Then a group's state depends on nothing else, and its thread may change it without a
// request (local_toggle.h).
//
// With contention a change places the groups of the PMU's queue anew (fill_counters()), by rank: cpu-wide pinned
// groups, the task's pinned ones, cpu-wide flexible ones, the task's flexible ones. Once a flexible group has not
// fitted, later ones are not tried (merge_sched_in(), `can_add_hw`). Rotation moves a group to the end of its rank, so
// that each flexible group is the first of its rank at some time.
#include "subsystem/scheduling/scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "abi/attr_flags.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/group_links.h"
#include "subsystem/events/group_lock.h"
#include "subsystem/scheduling/active_events.h"
#include "subsystem/scheduling/counter_assignment.h"
#include "subsystem/scheduling/counter_queue.h"
#include "subsystem/shared/local_toggle.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kPinned = abi::flag("pinned");
constexpr auto kExclusive = abi::flag("exclusive");

/// Whether the event can keep others from counting: it needs a counter, or the PMU for itself.
bool contends(const Event& event) {
    return event.wiring.counters != 0 || (event.flag(kExclusive) && !event.wiring.software);
}

// The kernel walks the rank's groups in a tree (visit_groups_merge()) and asks the PMU of each for counters. Here the
// counters are a set of bits for each event (Wiring::counters): CounterAssignment finds a counter for each member, or
// says that there is no such assignment. It may move earlier groups to other counters, because a run's counters hold no
// value.

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
    // Disabled members need no counter, so a group may fit beside others only while some of its members are off.
    for (const Event* member : members(leader))
        if (member->is_enabled()) masks.push_back(member->wiring.counters);
    if (!occupancy.counters.add(masks)) return false;
    occupancy.any = true;
    occupancy.exclusive = alone;
    return true;
}

/// Gives the leader the state, and each sibling the state that follows from the leader's and from its own requested
/// state.
void apply_state(World& world, Event& leader, EventState state) {
    for (Event* member : members(leader))
        set_state(world, *member, member->is_leader() ? state : state_under(member->requested_state(), state));
}

/// Whether the event's thread may toggle it without a request: no other group's state depends on it, and no PMU must be
/// informed.
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

/// `by` is 1, or -1 as an unsigned number. When the task gets its first contender all its events lose local toggling;
/// when the last one goes they may have it again.
void change_contenders(World& world, Task& task, std::uint32_t by) {
    const bool before = task.contenders != 0;
    task.contenders += by;
    if (before == (task.contenders != 0)) return;
    (before ? drop_queues : make_queues)(task);
    for (Event* leader : task.leaders)
        for (Event* member : members(*leader)) update_local_toggle(world, *member);
}

/// The state of a group that competes with no other.
EventState state_without_contention(World& world, const Event& leader) {
    // Off or in error: both stay until a client changes them.
    if (!leader.is_enabled()) return leader.requested_state();
    if (is_on_cpu(world, leader)) return EventState::counting;
    // A cpu-wide event's time running is the CPU's, less the time for which its parts lacked a counter (add_child() in
    // totals.cpp). A task on another CPU must not add to that, so its part is off there, not inactive.
    const bool elsewhere = leader.kind == Kind::cpu_wide_part && leader.cpu != leader.task->cpu;
    return elsewhere ? EventState::off : EventState::inactive;
}

/// A pinned group that does not fit goes into error state and stays there until it is enabled again; its pollers see
/// POLLERR. A flexible one waits.
EventState state_with_contention(World& world, Event& leader, PmuOccupancy& occupancy) {
    const EventState requested = state_without_contention(world, leader);
    if (requested != EventState::counting) return requested;
    const bool pinned = leader.flag(kPinned);
    if ((pinned || !occupancy.blocked) && try_add(occupancy, leader)) return EventState::counting;
    if (pinned) {
        world.host.poll_changed(leader.index);
        return leader.page->requested_state = EventState::error;
    }
    occupancy.blocked = true;
    return EventState::inactive;
}

/// The state of a group that gets no counter.
EventState state_without_counter(World& world, const Event& leader) {
    const EventState state = state_without_contention(world, leader);
    return state == EventState::counting ? EventState::inactive : state;
}

/// Groups and the states that they are to get. Computed for the whole queue before the first page changes.
using Outcome = std::vector<std::pair<Event*, EventState>>;

void apply_outcome(World& world, const Outcome& outcome) {
    // Groups that lose their counters come first, so that no counter has two events at a time.
    for (const auto& [leader, state] : outcome)
        if (state != EventState::counting) apply_state(world, *leader, state);
    for (const auto& [leader, state] : outcome)
        if (state == EventState::counting) apply_state(world, *leader, state);
}

enum class Extent : std::uint8_t {
    changes,  ///< up to the first group that waits: those after it wait already
    all,      ///< all groups: those after it may need another state, too
};

/// Gives a PMU's counters to the groups of its queue, in their order.
void fill_counters(World& world, Task& task, CounterQueue& queue, Extent extent) {
    PmuOccupancy occupancy;
    Outcome outcome;
    // The old assignment is dropped before the new one is made: waits_behind_others() below asks for the new one.
    const std::vector<Event*> were_placed = std::exchange(queue.placed, {});
    queue.first_waiting = nullptr;
    queue.is_stale = false;
    std::vector<Event*> in_error;
    for (const auto& [place, leader] : queue.groups) {
        if (occupancy.blocked && extent == Extent::changes) break;
        // Its thread may use up a REFRESH limit at any moment, and so stop the group.
        lock_group(world, *leader);
        const EventState state = state_with_contention(world, *leader, occupancy);
        outcome.emplace_back(leader, state);
        if (state == EventState::counting) queue.placed.push_back(leader);
        if (state == EventState::error) in_error.push_back(leader);
        if (occupancy.blocked && queue.first_waiting == nullptr) queue.first_waiting = leader;
    }
    if (extent == Extent::changes)
        for (Event* leader : were_placed) {
            if (!waits_behind_others(*leader)) continue;
            lock_group(world, *leader);
            outcome.emplace_back(leader, state_without_counter(world, *leader));
        }
    // After the loop, because a group in error leaves the queue that the loop walks.
    for (Event* leader : in_error) update_queue(task, *leader);
    apply_outcome(world, outcome);
}

void fill_counters_of(World& world, Task& task, Extent extent) {
    for (auto& [pmu, queue] : task.queues)
        if (extent == Extent::all || queue.is_stale) fill_counters(world, task, queue, extent);
    note_waiting(world, task, std::ranges::any_of(task.queues, [](const auto& entry) {
                     return entry.second.first_waiting != nullptr;
                 }));
}

/// ctx_event_to_rotate(): the first counting group of this rank moves to the rank's end, or the first of all its groups
/// if none counts.
void rotate_groups(Task& task, CounterQueue& queue, int rank) {
    const auto active =
        std::ranges::find(queue.placed, rank, [](const Event* leader) { return leader->queue_place.rank; });
    const auto first = queue.groups.lower_bound({rank, 0});
    Event* chosen = nullptr;
    if (active != queue.placed.end())
        chosen = *active;
    else if (first != queue.groups.end() && first->first.rank == rank)
        chosen = first->second;
    if (chosen == nullptr) return;
    // `leaders` rotates as well, because a queue that is made later takes its order from there.
    take_last_place(task, *chosen);
    task.leaders.splice(task.leaders.end(), task.leaders, chosen->position_in_leaders);
    queue.is_stale = true;
}

}  // namespace

bool is_on_cpu(World& world, const Event& leader) {
    if (!leader.task) return true;
    if (leader.cpu >= 0 && leader.cpu != leader.task->cpu) return false;
    return !leader.cgroup || world.host.in_cgroup(leader.task->id, *leader.cgroup);
}

void join_leaders(Task& task, Event& leader) {
    leader.position_in_leaders = task.leaders.insert(task.leaders.end(), &leader);
    take_last_place(task, leader);
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
    if (event.is_leader()) {
        task->leaders.erase(event.position_in_leaders);
        leave_queue(event);
    } else {
        note_smaller_group(*event.leader);
    }
    if (contends(event)) change_contenders(world, *task, ~0u);
    remove_active_event(world, *task, event);
}

void detach(World& world, Event& event) {
    lock_group(world, event);
    detach_from_task(world, event);
    if (event.is_leader()) return;
    Event& leader = *event.leader;
    std::erase(leader.siblings, &event);
    link_all(world, leader);
    if (leader.task != nullptr && leader.task->contenders != 0) update_queue(*leader.task, leader);
}

void place_group(World& world, Event& leader) {
    lock_group(world, leader);
    Task* const task = leader.task;
    const bool contended = task != nullptr && task->contenders != 0;
    if (contended) update_queue(*task, leader);
    if (leader.queue == nullptr) {
        apply_state(world, leader, state_without_contention(world, leader));
    } else if (waits_behind_others(leader)) {
        apply_state(world, leader, state_without_counter(world, leader));
    } else {
        leader.queue->is_stale = true;
    }
    if (contended) fill_counters_of(world, *task, Extent::changes);
}

void place_all(World& world, Task& task) {
    for (Event* leader : task.leaders) {
        lock_group(world, *leader);
        if (task.contenders != 0) update_queue(task, *leader);
        if (leader->queue == nullptr) apply_state(world, *leader, state_without_contention(world, *leader));
    }
    fill_counters_of(world, task, Extent::all);
}

void use_free_counters(World& world, Task& task) {
    // Without contenders there are no queues: the groups that waited fit.
    if (task.contenders != 0)
        fill_counters_of(world, task, Extent::changes);
    else if (task.waits_for_counters)
        place_all(world, task);
}

// The interval is measured on the task's own clock: a task that sleeps needs no rotation.
void rotate_when_due(World& world, Task& task, std::uint64_t interval) {
    if (!task.waits_for_counters) return;
    const std::uint64_t now = world.host.task_clock(task.id);
    if (now - task.rotated_at < interval) return;
    task.rotated_at = now;
    for (auto& [pmu, queue] : task.queues)
        for (const int rank : {kCpuWideFlexible, kOwnFlexible}) rotate_groups(task, queue, rank);
    fill_counters_of(world, task, Extent::changes);
}

}  // namespace anyperf::subsystem
