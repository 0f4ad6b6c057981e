#include "subsystem/scheduler.h"

#include "subsystem/armed_list.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "abi/attr_flags.h"
#include "subsystem/counter_assignment.h"
#include "subsystem/event_state.h"
#include "subsystem/group_links.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kPinned = abi::flag("pinned");
constexpr auto kExclusive = abi::flag("exclusive");

bool contends(const Event& event) {
    return event.wiring.counters != 0 || (event.flag(kExclusive) && !event.wiring.software);
}

/// Null for a group of software events alone: it goes on wherever it may.
const Pmu* hardware_pmu(const Event& leader) {
    if (!leader.wiring.software) return leader.pmu;
    for (const Event* sibling : leader.siblings)
        if (!sibling->wiring.software) return sibling->pmu;
    return nullptr;
}

/// What is left of a PMU while the groups of a task are placed one after the other.
struct Room {
    CounterAssignment counters;
    bool any = false;        ///< something stands on it
    bool exclusive = false;  ///< and wants to be alone
    bool full = false;       ///< a flexible group did not fit: the ones behind it wait
};

bool enters(Room& room, const Event& leader) {
    const bool alone = leader.flag(kExclusive);
    if (room.exclusive || (alone && room.any)) return false;
    std::vector<std::uint64_t> masks;
    for (const Event* member : members(leader))
        if (member->wants()) masks.push_back(member->wiring.counters);
    if (!room.counters.add(masks)) return false;
    room.any = true;
    room.exclusive = alone;
    return true;
}

/// Cpu-wide before the task's own, pinned before flexible.
int rank(const Event* leader) {
    return (leader->flag(kPinned) ? 0 : 2) + (leader->kind == Kind::of_cpu ? 0 : 1);
}

/// What a member is, where its leader has become this.
EventState under(const Event& member, EventState leader) {
    if (!member.wants()) return member.own;
    if (leader >= EventState::inactive) return leader;
    // Without its leader it does not even wait: its time enabled stands still.
    return EventState::off;
}

void give(World& world, Event& leader, EventState state) {
    for (Event* member : members(leader)) set_state(world, *member, member->leads() ? state : under(*member, state));
}

/// The state of a group that needs to ask nobody.
EventState unopposed(World& world, const Event& leader) {
    if (!leader.wants()) return leader.own;
    return on_its_cpu(world, leader) ? EventState::active : EventState::inactive;
}

EventState opposed(World& world, Event& leader, Room& room, bool& waits) {
    const EventState wish = unopposed(world, leader);
    if (wish != EventState::active) return wish;
    const bool pinned = leader.flag(kPinned);
    if ((pinned || !room.full) && enters(room, leader)) return EventState::active;
    if (pinned) {
        world.host.poll_changed(leader.index);
        return leader.own = EventState::error;
    }
    room.full = waits = true;
    return EventState::inactive;
}

/// Hardware groups of a task in which some contend: each in its turn.
void arbitrate(World& world, Task& task) {
    std::vector<std::pair<Event*, const Pmu*>> order;
    for (Event* leader : task.leaders)
        if (const Pmu* pmu = hardware_pmu(*leader)) order.emplace_back(leader, pmu);
    std::ranges::stable_sort(order, {}, [](const auto& entry) { return rank(entry.first); });

    std::map<const Pmu*, Room> rooms;
    std::vector<std::pair<Event*, EventState>> outcome;
    task.waits_for_counters = false;
    for (const auto& [leader, pmu] : order)
        outcome.emplace_back(leader, opposed(world, *leader, rooms[pmu], task.waits_for_counters));

    // Who leaves makes room first.
    for (const auto& [leader, state] : outcome)
        if (state != EventState::active) give(world, *leader, state);
    for (const auto& [leader, state] : outcome)
        if (state == EventState::active) give(world, *leader, state);
}

/// ctx_event_to_rotate: the first group that is on, else the first of all.
void to_the_end(Task& task, bool of_cpu) {
    auto groups = task.leaders | std::views::filter([of_cpu](const Event* leader) {
                      return !leader->flag(kPinned) && leader->wants() && hardware_pmu(*leader) &&
                             (leader->kind == Kind::of_cpu) == of_cpu;
                  });
    auto chosen = std::ranges::find(groups, EventState::active, [](const Event* leader) { return leader->written; });
    if (chosen == groups.end()) chosen = groups.begin();
    if (chosen == groups.end()) return;
    Event* const leader = *chosen;
    std::erase(task.leaders, leader);
    task.leaders.push_back(leader);
}

}  // namespace

bool on_its_cpu(World& world, const Event& leader) {
    if (!leader.task) return true;
    if (leader.cpu >= 0 && leader.cpu != leader.task->cpu) return false;
    return !leader.cgroup || world.host.in_cgroup(leader.task->name, *leader.cgroup);
}

void attach(World& world, Event& event) {
    if (!event.leads()) event.leader->siblings.push_back(&event);
    link_newest(world, event);
    if (Task* task = event.task) {
        if (event.leads()) task->leaders.push_back(&event);
        if (contends(event)) ++task->contenders;
    }
    place_group(world, *event.leader);
}

void leave(World& world, Event& event) {
    Task* task = std::exchange(event.task, nullptr);
    if (!task) return;
    if (event.leads()) std::erase(task->leaders, &event);
    if (contends(event)) --task->contenders;
    if (concerns_thread(*event.page)) rearm_later(world, *task);
}

void detach(World& world, Event& event) {
    leave(world, event);
    if (event.leads()) return;
    std::erase(event.leader->siblings, &event);
    link_all(world, *event.leader);
}

void place_group(World& world, Event& leader) {
    const bool alone = !leader.task || leader.task->contenders == 0 || !hardware_pmu(leader);
    if (alone)
        give(world, leader, unopposed(world, leader));
    else
        arbitrate(world, *leader.task);
}

void place_all(World& world, Task& task) {
    for (Event* leader : task.leaders)
        if (task.contenders == 0 || !hardware_pmu(*leader)) give(world, *leader, unopposed(world, *leader));
    task.waits_for_counters = false;
    if (task.contenders != 0) arbitrate(world, task);
}

void rotate_when_due(World& world, Task& task, std::uint64_t interval) {
    if (!task.waits_for_counters) return;
    const std::uint64_t now = world.host.task_clock(task.name);
    if (now - task.rotated_at < interval) return;
    task.rotated_at = now;
    for (const bool of_cpu : {true, false}) to_the_end(task, of_cpu);
    arbitrate(world, task);
}

}  // namespace anyperf::subsystem
