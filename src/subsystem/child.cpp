#include "subsystem/child.h"

#include "subsystem/birth.h"
#include "subsystem/scheduler.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::subsystem {
namespace {

EventState wish_like(const Event& like) {
    return like.own() >= EventState::inactive ? EventState::inactive : EventState::off;
}

/// A frequency goes on with the period that it has led to.
void follow_frequency(EventPage& child, const EventPage& parent) {
    if (child.frequency == 0) return;
    child.frequency = parent.frequency;
    child.period = parent.period;
    child.period_left = first_period(child);
}

}  // namespace

Event* make_child(World& world, Event& parent, Task& task, Kind kind, const Event& like, Event* leader) {
    const Plan plan{.attr = parent.attr,
                    .kind = kind,
                    .task = &task,
                    .cpu = parent.cpu,
                    .opener = parent.opener ? parent.opener->name : task.name,
                    .privileged = true,
                    .may_trace = true,
                    .may_probe = true,
                    .parent = parent.index};
    auto made = draft(world, plan);
    if (!made) return nullptr;
    Draft& child = *made;
    child->parent = &parent;
    child->cgroup = parent.cgroup;
    child->page->own = wish_like(like);
    follow_frequency(*child->page, *parent.page);
    child->page->ring = parent.page->ring;
    child->page->filter = parent.page->filter;
    child->page->notify = parent.page->notify;
    Event& event = child.keep();
    event.leader = leader ? leader : &event;
    parent.children.push_back(&event);
    {
        Locked page(world, parent);
        page->has_children = 1;
    }
    attach(world, event);
    return &event;
}

}  // namespace anyperf::subsystem
