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

}  // namespace

void tell_armed(World& world, const Task& task) {
    Armed armed{.first = task.first_armed ? task.first_armed->index : 0, .counters = 0, .faults = task.faulting != 0};
    for (std::size_t i = 0; i < task.counted.size(); ++i)
        if (task.counted[i] != 0) armed.counters |= 1u << i;
    world.host.arm(task.name, armed);
}

void join_armed(World& world, Event& event) {
    if (!concerns_thread(*event.page)) return;
    Task& task = *event.task;
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
    count_needs(task, *event.page, 1);
    tell_armed(world, task);
    attend_later(world, task);
}

void leave_armed(World& world, Task& task, Event& event) {
    if (!concerns_thread(*event.page)) return;
    Event* const before = std::exchange(event.armed_before, nullptr);
    Event* const after = std::exchange(event.armed_after, nullptr);
    point_to(world, before, task, after);
    (after ? after->armed_before : task.last_armed) = before;
    if (task.last_sampling == &event) task.last_sampling = before;
    count_needs(task, *event.page, ~0u);
    tell_armed(world, task);
    attend_later(world, task);
}

}  // namespace anyperf::subsystem
