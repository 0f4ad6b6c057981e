// child_event.cpp: what an inherited event, or one task's part of a cpu-wide event, takes from its parent.
// inherit_event() of the kernel is the model: the child has the parent's id and ring, counts from 0, and has a stream
// id of its own.
#include "subsystem/events/child_event.h"

#include "subsystem/events/event_creation.h"
#include "subsystem/scheduling/scheduler.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::subsystem {
namespace {

/// A child begins enabled if `like` is, else off. It never begins in error or exited.
EventState requested_state_of(const Event& like) {
    return like.requested_state() >= EventState::inactive ? EventState::inactive : EventState::off;
}

/// With a frequency, the child starts from the period that the parent has reached.
void follow_frequency(EventPage& child, const EventPage& parent) {
    if (child.frequency == 0) return;
    child.frequency = parent.frequency;
    child.period = parent.period;
    child.period_left = first_period(child);
}

}  // namespace

// The child has all rights: they were checked when its parent was opened, and the kernel checks none at a fork. It
// shares its parent's ring, filter and signal. A child that can't be created does not fail the fork.
Event* make_child(World& world, Event& parent, Task& task, Kind kind, const Event& like, Event* leader) {
    const Limits limits;
    const Rights all{Credentials{.perfmon = true, .ipc_lock = true, .sys_admin = true}, limits};
    const EventSpec spec{.attr = parent.attr,
                         .kind = kind,
                         .task = &task,
                         .cpu = parent.cpu,
                         .opener = parent.opener ? parent.opener->id : task.id,
                         .rights = all,
                         .parent = parent.index};
    auto made = create_event(world, spec);
    if (!made) return nullptr;
    PendingEvent& child = *made;
    child->parent = &parent;
    child->cgroup = parent.cgroup;
    child->page->requested_state = requested_state_of(like);
    follow_frequency(*child->page, *parent.page);
    child->page->ring = child->ring = parent.ring;
    child->page->filter = child->filter = parent.filter;
    child->page->notify = parent.page->notify;
    Event& event = child.commit();
    event.leader = leader ? leader : &event;
    parent.children.push_back(&event);
    {
        // From now on the parent's own count is not all of its value, so its thread must not read it locally.
        LockedPage page(world, parent);
        page->has_children = 1;
    }
    attach(world, event);
    return &event;
}

}  // namespace anyperf::subsystem
