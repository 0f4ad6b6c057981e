// lifetime.cpp: an event has two ends. When its *task* ends (leave_task()), the event has counted all that it ever
// will, and can still be read. When the *event* ends (end_event()), its page is freed. A child event ends with its
// task. The models are perf_event_exit_task() and perf_release() of the kernel.
//
// Both first take the state from the page (sync_state_from_page()), because the thread may have toggled the event
// itself. Both offer the freed counters to waiting groups last, when the task's lists do not have the event any more.
#include "subsystem/events/lifetime.h"

#include <algorithm>
#include <utility>

#include "subsystem/events/event_creation.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/group_links.h"
#include "subsystem/events/group_lock.h"
#include "subsystem/events/totals.h"
#include "subsystem/output/output.h"
#include "subsystem/output/side_band.h"
#include "subsystem/scheduling/scheduler.h"

namespace anyperf::subsystem {
namespace {

/// The leader ends: each sibling becomes a group of its own, and counts if it is enabled (perf_group_detach()).
void release_siblings(World& world, Event& leader) {
    const std::vector<Event*> siblings = std::exchange(leader.siblings, {});
    for (Event* sibling : siblings) {
        sibling->leader = sibling;
        lock_group(world, *sibling);
        link_all(world, *sibling);
        if (sibling->task) join_leaders(*sibling->task, *sibling);
        place_group(world, *sibling);
    }
}

/// Stops the event and removes it from its group and task.
void stop_and_detach(World& world, Event& event) {
    lock_group(world, event);
    sync_state_from_page(world, event);
    set_state(world, event, EventState::exited);
    event.page->requested_state = EventState::exited;
    detach(world, event);
    if (event.is_leader()) release_siblings(world, event);
}

/// Adds the counts and times of a child that ends to its parent's (perf_event_exit_event(), `child_count`).
void add_totals_to_parent(World& world, Event& child) {
    const Total total = subsystem::total(world, child);
    InheritedTotals& left = child.parent->inherited_totals;
    left.count += total.member.value;
    left.enabled += total.enabled;
    left.running += total.running;
    left.lost += total.member.lost;
}

/// Ends an inherited event or a part of a cpu-wide one.
void end_child(World& world, Event& child) {
    Task* const task = child.task;
    stop_and_detach(world, child);
    std::erase(child.parent->children, &child);
    destroy_event(world, child);
    if (task != nullptr) use_free_counters(world, *task);
}

void end_event(World& world, Event& event) {
    while (!event.children.empty()) end_child(world, *event.children.back());
    std::erase(world.cpu_wide, &event);
    if (event.opener) event.opener->opened.erase(event.position_in_opened);
    Task* const task = event.task;
    stop_and_detach(world, event);
    drop_ring(world, event);
    destroy_event(world, event);
    if (task != nullptr) use_free_counters(world, *task);
}

}  // namespace

// As in the kernel, an event lives as long as it has a descriptor or a mapping.
void close_event(World& world, Event& event) {
    event.has_descriptor = false;
    end_if_unreferenced(world, event);
}

void end_if_unreferenced(World& world, Event& event) {
    if (!event.has_descriptor && event.mappings == 0) end_event(world, event);
}

// Pollers get POLLHUP once nothing counts for the opened event any more: neither the event itself nor a child.
void leave_task(World& world, Event& event) {
    Task* const task = event.task;
    lock_group(world, event);
    sync_state_from_page(world, event);
    set_state(world, event, EventState::exited);
    event.page->requested_state = EventState::exited;
    if (event.kind != Kind::opened) {
        report_read(world, event);
        add_totals_to_parent(world, event);
        Event& parent = *event.parent;
        end_child(world, event);
        if (parent.requested_state() == EventState::exited && parent.children.empty())
            world.host.poll_changed(parent.index);
        return;
    }
    detach_from_task(world, event);
    if (event.is_leader())
        for (Event* sibling : event.siblings)
            if (sibling->task) leave_task(world, *sibling);
    if (event.children.empty()) world.host.poll_changed(event.index);
    if (task != nullptr) use_free_counters(world, *task);
}

}  // namespace anyperf::subsystem
