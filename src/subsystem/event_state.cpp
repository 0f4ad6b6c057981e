#include "subsystem/event_state.h"

#include <utility>

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
    const EventState told = std::exchange(event.written, state);
    {
        Locked page(world, event);
        if (page->state == state && told == state) return;
        // To ask a task for its clock is dear: not where nothing has run and nothing will, nor for who is read no more.
        const bool runs = page->state >= EventState::inactive || state >= EventState::inactive;
        const bool last = event.kind == Kind::opened && !event.descriptor && event.mappings == 0;
        if (runs && !(last && state <= EventState::exited))
            change_state(*page, state, value_now(world, event), clock_now(world, event));
        else
            page->state = state;
    }
    const bool is_active = state == EventState::active;
    tell_pmu(world, event, told == EventState::active, is_active);
    if (is_active) update_header(world, event);
    // A thread stops for its events that sample, and looks for what is made to happen; what it keeps for the others it
    // keeps anyway.
    const bool concerned = event.page->sampling != 0 || event.page->source.kind == Source::Kind::happenings;
    if (event.task && concerned) attend_later(world, *event.task);
}

bool notice_switched(World& world, Event& event) {
    const EventState told = event.written;
    {
        Locked page(world, event);
        if (page->state == told) return false;
        event.written = page->state;
    }
    tell_pmu(world, event, told == EventState::active, event.written == EventState::active);
    return true;
}

}  // namespace anyperf::subsystem
