// active_events.cpp: the list is doubly linked here, and the same list is singly linked in the pages, where the
// measured thread walks it without a lock. So links are written in an order in which each walk reaches the end: a new
// event gets its own link before another one leads to it, and a removed event keeps its link.
//
// counter_users counts the events that need each live counter. The thread page has a bit for each of these numbers that
// is not 0: the engine knows from it which classes its translations must count.
#include "subsystem/scheduling/active_events.h"

#include <utility>

#include "subsystem/events/event.h"
#include "subsystem/shared/counter_sum.h"

namespace anyperf::subsystem {
namespace {

/// Adds `by` users to each live counter that the event needs. An event that samples also needs counter 0, the
/// instructions: its thread stops after a number of them to look for overflows. A modelled event needs counter 0, too,
/// because the budget's end also feeds the models. `by` may be -1 as an unsigned number.
void add_counter_users(Task& task, const Event& event, std::uint32_t by) {
    const Source& source = event.source();
    const bool faults = counts_faults(source);
    const bool models = uses_models(source);
    if ((event.samples() && (faults || source.kind == Source::Kind::counters)) || models) task.counter_users[0] += by;
    if (models_accesses(source)) task.counter_users[kAccessesBit] += by;
    if (source.needs_predictions) task.counter_users[kPredictionsBit] += by;
    if (models || models_accesses(source) || source.needs_predictions) task.counter_users[Source::kModelledBit] += by;
    if (!models && source.kind == Source::Kind::counters)
        for (std::size_t i = 0; i < source.terms; ++i)
            task.counter_users[source.term[i].counter % task.counter_users.size()] += by;
    if (faults) task.fault_events += by;
}

/// Makes `event` the successor of `before`, or the first of the task's list, in the pages as well.
void point_to(World& world, Event* before, Task& task, Event* event) {
    (before ? before->next_active : task.first_active) = event;
    if (before) LockedPage(world, *before)->next_active = event ? event->index : 0;
}

ActiveEvents active_events_of(const Task& task) {
    ActiveEvents active{
        .first = task.first_active ? task.first_active->index : 0, .counters = 0, .faults = task.fault_events != 0};
    for (std::size_t i = 0; i < task.counter_users.size(); ++i)
        if (task.counter_users[i] != 0) active.counters |= 1u << i;
    return active;
}

/// Sampling events come first: at each end of its budget the thread walks the list up to the first event that does not
/// sample.
void join_list(World& world, Task& task, Event& event) {
    const bool samples = event.samples();
    Event* const before = samples ? task.last_sampling : task.last_active;
    Event* const after = before ? before->next_active : task.first_active;
    event.previous_active = before;
    event.next_active = after;
    // The event's own link is written before the link to it: the thread may be walking the list and must reach its end.
    LockedPage(world, event)->next_active = after ? after->index : 0;
    point_to(world, before, task, &event);
    (after ? after->previous_active : task.last_active) = &event;
    if (samples) task.last_sampling = &event;
}

/// The event's own page keeps its link, because the thread may be walking the list and be at this page.
void leave_list(World& world, Task& task, Event& event) {
    Event* const before = std::exchange(event.previous_active, nullptr);
    Event* const after = std::exchange(event.next_active, nullptr);
    point_to(world, before, task, after);
    (after ? after->previous_active : task.last_active) = before;
    if (task.last_sampling == &event) task.last_sampling = before;
}

/// `by` is 1 if the event comes, -1 (as unsigned) if it goes.
template <class Change>
void change_active_events(World& world, Task& task, Event& event, std::uint32_t by, Change change_list) {
    const ActiveEvents was = active_events_of(task);
    const bool listed = is_thread_active(event);
    if (listed) change_list(world, task, event);
    add_counter_users(task, event, by);
    const ActiveEvents now = active_events_of(task);
    world.host.set_active_events(task.id, now);
    if (listed || now != was) request_safepoint_later(world, task);
}

}  // namespace

void report_active_events(World& world, const Task& task) {
    world.host.set_active_events(task.id, active_events_of(task));
}

void add_active_event(World& world, Event& event) {
    change_active_events(world, *event.task, event, 1, join_list);
}

void remove_active_event(World& world, Task& task, Event& event) {
    change_active_events(world, task, event, ~0u, leave_list);
}

}  // namespace anyperf::subsystem
