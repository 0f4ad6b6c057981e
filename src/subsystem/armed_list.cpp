#include "subsystem/armed_list.h"

#include <utility>

#include "subsystem/event.h"

namespace anyperf::subsystem {
namespace {

/// What the thread has to keep for it. By its count of instructions it is stopped where counters overflow, or a fault
/// is looked for.
void count_needs(Task& task, const EventPage& page, std::uint32_t by) {
    const Source& source = page.source;
    const bool faults = counts_faults(source);
    if (page.sampling != 0 && (faults || source.kind == Source::Kind::counters)) task.counted[0] += by;
    if (source.kind == Source::Kind::counters)
        for (std::size_t i = 0; i < source.terms; ++i) task.counted[source.term[i].counter % task.counted.size()] += by;
    else if (faults)
        task.faulting += by;
}

void point_to(World& world, Event* before, Task& task, Event* event) {
    (before ? before->armed_after : task.first_armed) = event;
    if (before) Locked(world, *before)->next_armed = event ? event->index : 0;
}

Armed armed_of(const Task& task) {
    Armed armed{.first = task.first_armed ? task.first_armed->index : 0, .counters = 0, .faults = task.faulting != 0};
    for (std::size_t i = 0; i < task.counted.size(); ++i)
        if (task.counted[i] != 0) armed.counters |= 1u << i;
    return armed;
}

void join_list(World& world, Task& task, Event& event) {
    const bool samples = event.page->sampling != 0;
    Event* const before = samples ? task.last_sampling : task.last_armed;
    Event* const after = before ? before->armed_after : task.first_armed;
    event.armed_before = before;
    event.armed_after = after;
    // Its own link first: the thread may be walking, and must get to the end.
    Locked(world, event)->next_armed = after ? after->index : 0;
    point_to(world, before, task, &event);
    (after ? after->armed_before : task.last_armed) = &event;
    if (samples) task.last_sampling = &event;
}

void leave_list(World& world, Task& task, Event& event) {
    Event* const before = std::exchange(event.armed_before, nullptr);
    Event* const after = std::exchange(event.armed_after, nullptr);
    point_to(world, before, task, after);
    (after ? after->armed_before : task.last_armed) = before;
    if (task.last_sampling == &event) task.last_sampling = before;
}

/// The event comes or goes: `by` is 1 or -1 of each that it needs.
template <class Change>
void change_armed(World& world, Task& task, Event& event, std::uint32_t by, Change change_list) {
    const Armed was = armed_of(task);
    const bool listed = concerns_thread(*event.page);
    if (listed) change_list(world, task, event);
    count_needs(task, *event.page, by);
    const Armed now = armed_of(task);
    world.host.arm(task.name, now);
    if (listed || now != was) attend_later(world, task);
}

}  // namespace

void tell_armed(World& world, const Task& task) {
    world.host.arm(task.name, armed_of(task));
}

void join_armed(World& world, Event& event) {
    change_armed(world, *event.task, event, 1, join_list);
}

void leave_armed(World& world, Task& task, Event& event) {
    change_armed(world, task, event, ~0u, leave_list);
}

}  // namespace anyperf::subsystem
