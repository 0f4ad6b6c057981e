#include "subsystem/events/event_state.h"

#include <utility>

#include "subsystem/output/header_page.h"

namespace anyperf::subsystem {
namespace {

/// Informs the PMU if the event has begun or stopped counting.
void report_to_pmu(World&, Event& event, bool was_active, bool is_active) {
    if (!event.pmu || !event.task || was_active == is_active) return;
    if (is_active)
        event.pmu->add(event.index, event.task->id);
    else
        event.pmu->del(event.index, event.task->id);
}

}  // namespace

void set_state(World& world, Event& event, EventState state) {
    const EventState previous = std::exchange(event.pmu_state, state);
    {
        LockedPage page(world, event);
        if (page->state == state && previous == state) return;
        // Reading a task's clock is expensive. It is not read if the event's times advance neither before nor after,
        // nor for an event that ends and can no longer be read.
        const bool runs = page->state >= EventState::inactive || state >= EventState::inactive;
        const bool last = event.kind == Kind::opened && !event.has_descriptor && event.mappings == 0;
        if (runs && !(last && state <= EventState::exited))
            change_state(*page, state, value_now(world, event), clock_now(world, event));
        else
            page->state = state;
    }
    const bool is_active = state == EventState::counting;
    report_to_pmu(world, event, previous == EventState::counting, is_active);
    // As x86_pmu_del() of Linux: rdpmc has no index for an event that is off.
    const bool was_readable = previous == EventState::counting && !event.wiring.software;
    if (is_active || was_readable) update_header(world, event);
    // Only for events that sample or count occurrences does the thread's work depend on the state.
    const bool concerned = event.samples() || event.source().kind == Source::Kind::occurrences;
    if (event.task && concerned) request_safepoint_later(world, *event.task);
}

bool sync_state_from_page(World& world, Event& event) {
    const EventState previous = event.pmu_state;
    {
        LockedPage page(world, event);
        if (page->state == previous) return false;
        event.pmu_state = page->state;
    }
    report_to_pmu(world, event, previous == EventState::counting, event.pmu_state == EventState::counting);
    return true;
}

}  // namespace anyperf::subsystem
