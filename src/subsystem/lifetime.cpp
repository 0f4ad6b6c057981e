#include "subsystem/lifetime.h"

#include <algorithm>
#include <utility>

#include "subsystem/birth.h"
#include "subsystem/event_state.h"
#include "subsystem/group_hold.h"
#include "subsystem/group_links.h"
#include "subsystem/output.h"
#include "subsystem/read.h"
#include "subsystem/scheduler.h"
#include "subsystem/side_band.h"

namespace anyperf::subsystem {
namespace {

/// Siblings whose leader goes lead a group of their own each, and count if they want to.
void release_siblings(World& world, Event& leader) {
    const std::vector<Event*> siblings = std::exchange(leader.siblings, {});
    for (Event* sibling : siblings) {
        sibling->leader = sibling;
        hold(world, *sibling);
        link_all(world, *sibling);
        if (sibling->task) join_leaders(*sibling->task, *sibling);
        place_group(world, *sibling);
    }
}

/// Out of its group and task, its counting stopped.
void withdraw(World& world, Event& event) {
    hold(world, event);
    notice_switched(world, event);
    set_state(world, event, EventState::exited);
    event.page->own = EventState::exited;
    detach(world, event);
    if (event.leads()) release_siblings(world, event);
}

/// What made way: others may want its counters.
void fill_gap(World& world, Task* task) {
    if (task && (task->contenders != 0 || task->waits_for_counters)) place_all(world, *task);
}

void bequeath(World& world, Event& child) {
    const Total total = subsystem::total(world, child);
    Bequest& left = child.parent->bequest;
    left.count += total.member.value;
    left.enabled += total.enabled;
    left.running += total.running;
    left.lost += total.member.lost;
}

void end_child(World& world, Event& child) {
    Task* const task = child.task;
    withdraw(world, child);
    std::erase(child.parent->children, &child);
    bury(world, child);
    fill_gap(world, task);
}

void end_event(World& world, Event& event) {
    while (!event.children.empty()) end_child(world, *event.children.back());
    std::erase(world.cpu_wide, &event);
    if (event.opener) event.opener->opened.erase(event.in_opened);
    Task* const task = event.task;
    withdraw(world, event);
    drop_ring(world, event);
    bury(world, event);
    fill_gap(world, task);
}

}  // namespace

void close_event(World& world, Event& event) {
    event.descriptor = false;
    end_if_unheld(world, event);
}

void end_if_unheld(World& world, Event& event) {
    if (!event.descriptor && event.mappings == 0) end_event(world, event);
}

void leave_task(World& world, Event& event) {
    Task* const task = event.task;
    hold(world, event);
    notice_switched(world, event);
    set_state(world, event, EventState::exited);
    event.page->own = EventState::exited;
    if (event.kind != Kind::opened) {
        tell_read(world, event);
        bequeath(world, event);
        Event& parent = *event.parent;
        end_child(world, event);
        if (parent.own() == EventState::exited && parent.children.empty()) world.host.poll_changed(parent.index);
        return;
    }
    leave(world, event);
    if (event.leads())
        for (Event* sibling : event.siblings)
            if (sibling->task) leave_task(world, *sibling);
    if (event.children.empty()) world.host.poll_changed(event.index);
    fill_gap(world, task);
}

}  // namespace anyperf::subsystem
