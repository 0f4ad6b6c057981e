#include "subsystem/event_state.h"

#include <utility>

#include "subsystem/armed_list.h"
#include "subsystem/header_page.h"

namespace anyperf::subsystem {
namespace {

/// The PMU has its hand in what counts: it is told of each time the event goes on or comes off.
void tell_pmu(World&, Event& event, bool was_active, bool is_active) {
    if (!event.pmu || !event.task || was_active == is_active) return;
    if (is_active)
        event.pmu->add(event.index, event.task->name);
    else
        event.pmu->del(event.index, event.task->name);
}

}  // namespace

void set_state(World& world, Event& event, EventState state) {
    const EventState was = event.written;
    {
        Locked page(world, event);
        event.written = state;
        if (page->state == state) return;
        change_state(*page, state, value_now(world, event), clock_now(world, event));
    }
    const bool was_active = was == EventState::active;
    const bool is_active = state == EventState::active;
    tell_pmu(world, event, was_active, is_active);
    if (is_active) update_header(world, event);
    if (event.task && concerns_thread(*event.page) && was_active != is_active) rearm_later(world, *event.task);
}

bool notice_ran_out(World& world, Event& event) {
    {
        const Locked page(world, event);
        if (event.page->state == event.written) return false;
    }
    tell_pmu(world, event, true, false);
    event.written = EventState::off;
    event.own = EventState::off;
    if (event.task) rearm_later(world, *event.task);
    return true;
}

}  // namespace anyperf::subsystem
