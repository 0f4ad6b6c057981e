#include "subsystem/scheduler.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "abi/attr_flags.h"
#include "subsystem/armed_list.h"
#include "subsystem/counter_assignment.h"
#include "subsystem/event_state.h"
#include "subsystem/group_hold.h"
#include "subsystem/group_links.h"
#include "subsystem/shared/own_switch.h"

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

constexpr int kRanks = 4;

/// Cpu-wide before the task's own, pinned before flexible.
int rank(const Event* leader) {
    return (leader->flag(kPinned) ? 0 : 2) + (leader->kind == Kind::of_cpu ? 0 : 1);
}

void give(World& world, Event& leader, EventState state) {
    for (Event* member : members(leader))
        set_state(world, *member, member->leads() ? state : state_under(member->own(), state));
}

/// Its thread may switch it without us: nobody else's state hangs on it.
bool switches_itself(const Event& event) {
    const bool anywhere = event.cpu == -1 && !event.cgroup;
    return event.kind == Kind::opened && event.task && anywhere && event.task->contenders == 0 &&
           tells_itself(event.page->source);
}

void allow_switching(World& world, Event& event) {
    const std::uint32_t may = switches_itself(event) ? 1 : 0;
    if (event.page->switchable == may) return;
    hold(world, event);
    event.page->switchable = may;
}

/// One more that contends, or one less: only where nobody does is each group's placing its own affair.
void count_contender(World& world, Task& task, std::uint32_t by) {
    const bool before = task.contenders != 0;
    task.contenders += by;
    if (before == (task.contenders != 0)) return;
    for (Event* leader : task.leaders)
        for (Event* member : members(*leader)) allow_switching(world, *member);
}

/// The state of a group that needs to ask nobody.
EventState unopposed(World& world, const Event& leader) {
    if (!leader.wants()) return leader.own();
    if (on_its_cpu(world, leader)) return EventState::active;
    // On another CPU a task takes nothing from the times of a cpu-wide event.
    const bool elsewhere = leader.kind == Kind::of_cpu && leader.cpu != leader.task->cpu;
    return elsewhere ? EventState::off : EventState::inactive;
}

EventState opposed(World& world, Event& leader, Room& room, bool& waits) {
    const EventState wish = unopposed(world, leader);
    if (wish != EventState::active) return wish;
    const bool pinned = leader.flag(kPinned);
    if ((pinned || !room.full) && enters(room, leader)) return EventState::active;
    if (pinned) {
        world.host.poll_changed(leader.index);
        return leader.page->own = EventState::error;
    }
    room.full = waits = true;
    return EventState::inactive;
}

/// Hardware groups of a task in which some contend: each in its turn.
void arbitrate(World& world, Task& task) {
    std::vector<std::pair<Event*, const Pmu*>> order;
    order.reserve(task.leaders.size());
    for (int place = 0; place < kRanks; ++place)
        for (Event* leader : task.leaders)
            if (const Pmu* pmu = hardware_pmu(*leader); pmu && rank(leader) == place) order.emplace_back(leader, pmu);

    std::map<const Pmu*, Room> rooms;
    std::vector<std::pair<Event*, EventState>> outcome;
    outcome.reserve(order.size());
    bool waits = false;
    for (const auto& [leader, pmu] : order) outcome.emplace_back(leader, opposed(world, *leader, rooms[pmu], waits));
    note_waiting(world, task, waits);

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
    auto chosen =
        std::ranges::find(groups, EventState::active, [](const Event* leader) { return leader->page->state; });
    if (chosen == groups.end()) chosen = groups.begin();
    if (chosen == groups.end()) return;
    Event* const leader = *chosen;
    task.leaders.splice(task.leaders.end(), task.leaders, leader->in_leaders);
}

}  // namespace

bool on_its_cpu(World& world, const Event& leader) {
    if (!leader.task) return true;
    if (leader.cpu >= 0 && leader.cpu != leader.task->cpu) return false;
    return !leader.cgroup || world.host.in_cgroup(leader.task->name, *leader.cgroup);
}

void join_leaders(Task& task, Event& leader) {
    leader.in_leaders = task.leaders.insert(task.leaders.end(), &leader);
}

void attach(World& world, Event& event) {
    hold(world, event);
    if (!event.leads()) event.leader->siblings.push_back(&event);
    link_newest(world, event);
    if (Task* task = event.task) {
        if (event.leads()) join_leaders(*task, event);
        join_armed(world, event);
        if (contends(event)) count_contender(world, *task, 1);
        allow_switching(world, event);
    }
    place_group(world, *event.leader);
}

void leave(World& world, Event& event) {
    hold(world, event);
    Task* task = std::exchange(event.task, nullptr);
    if (!task) return;
    event.page->switchable = 0;
    if (event.leads()) task->leaders.erase(event.in_leaders);
    if (contends(event)) count_contender(world, *task, ~0u);
    leave_armed(world, *task, event);
}

void detach(World& world, Event& event) {
    hold(world, event);
    leave(world, event);
    if (event.leads()) return;
    std::erase(event.leader->siblings, &event);
    link_all(world, *event.leader);
}

void place_group(World& world, Event& leader) {
    hold(world, leader);
    const bool alone = !leader.task || leader.task->contenders == 0 || !hardware_pmu(leader);
    if (alone)
        give(world, leader, unopposed(world, leader));
    else
        arbitrate(world, *leader.task);
}

void place_all(World& world, Task& task) {
    for (Event* leader : task.leaders) {
        hold(world, *leader);
        if (task.contenders == 0 || !hardware_pmu(*leader)) give(world, *leader, unopposed(world, *leader));
    }
    note_waiting(world, task, false);
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
