// counter_queue.cpp: keeps each queue's order, and marks a queue as stale if its counters may have to be assigned anew.
// This file assigns no counters: fill_counters() (scheduler.cpp) does that.
//
// The invariant: groups before first_waiting were tried in order, `placed` has those that fit, and every flexible group
// from first_waiting on waits. So a queue becomes stale when a placed group leaves or gets smaller, when the first
// waiting group leaves, when a group arrives whose place is before first_waiting, and when groups rotate. scheduler.cpp
// notices the last two.
#include "subsystem/scheduling/counter_queue.h"

#include <algorithm>
#include <utility>

#include "abi/attr_flags.h"

namespace anyperf::subsystem {

namespace {

bool is_placed(const CounterQueue& queue, const Event& leader) {
    return std::ranges::find(queue.placed, &leader) != queue.placed.end();
}

/// Pinned groups come before flexible ones. Among each, cpu-wide groups come before the task's own.
int rank(const Event& leader) {
    constexpr auto kPinned = abi::flag("pinned");
    const int first = leader.flag(kPinned) ? 0 : kCpuWideFlexible;
    return first + (leader.kind == Kind::cpu_wide_part ? 0 : 1);
}

}  // namespace

const Pmu* hardware_pmu(const Event& leader) {
    if (!leader.wiring.software) return leader.pmu;
    for (const Event* sibling : leader.siblings)
        if (!sibling->wiring.software) return sibling->pmu;
    return nullptr;
}

// The numbers only rise. So a place is never used twice, and within a rank the map has the groups in order of arrival.
void take_last_place(Task& task, Event& leader) {
    if (leader.queue != nullptr) leader.queue->groups.erase(leader.queue_place);
    leader.queue_place = {rank(leader), ++task.last_queue_number};
    if (leader.queue != nullptr) leader.queue->groups.emplace(leader.queue_place, &leader);
}

void leave_queue(Event& leader) {
    CounterQueue* const queue = std::exchange(leader.queue, nullptr);
    if (queue == nullptr) return;
    queue->groups.erase(leader.queue_place);
    const bool frees_counters = std::erase(queue->placed, &leader) != 0;
    const bool lets_others_pass = queue->first_waiting == &leader;
    if (lets_others_pass) queue->first_waiting = nullptr;
    queue->is_stale = queue->is_stale || frees_counters || lets_others_pass;
}

void update_queue(Task& task, Event& leader) {
    const Pmu* const pmu = leader.is_enabled() ? hardware_pmu(leader) : nullptr;
    CounterQueue* const belongs_to = pmu != nullptr ? &task.queues[pmu] : nullptr;
    if (leader.queue == belongs_to) return;
    leave_queue(leader);
    leader.queue = belongs_to;
    if (belongs_to != nullptr) belongs_to->groups.emplace(leader.queue_place, &leader);
}

void note_smaller_group(Event& leader) {
    if (leader.queue != nullptr && !waits_behind_others(leader)) leader.queue->is_stale = true;
}

// Before there were contenders every enabled group counted, so all of them begin as placed. The queues are stale,
// because the new contender has no counters yet.
void make_queues(Task& task) {
    for (Event* leader : task.leaders) {
        update_queue(task, *leader);
        if (leader->queue != nullptr) leader->queue->placed.push_back(leader);
    }
    for (auto& [pmu, queue] : task.queues) queue.is_stale = true;
}

void drop_queues(Task& task) {
    for (Event* leader : task.leaders) leader->queue = nullptr;
    task.queues.clear();
}

bool waits_behind_others(const Event& leader) {
    const CounterQueue* const queue = leader.queue;
    return queue != nullptr && queue->first_waiting != nullptr &&
           queue->first_waiting->queue_place < leader.queue_place && !is_placed(*queue, leader);
}

}  // namespace anyperf::subsystem
