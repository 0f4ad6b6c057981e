// armed_list.h: the list that a thread walks at its safe points: its events that may overflow, or need its live
// counters. EventPage::next_armed.
#pragma once

#include "subsystem/shared/event_page.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Whether the event's own thread has to know it: it counts by what the thread itself keeps or makes, or overflows
/// there.
inline bool concerns_thread(const EventPage& page) {
    switch (page.source.kind) {
        case Source::Kind::counters:
        case Source::Kind::happenings:
        case Source::Kind::page_faults:
        case Source::Kind::minor_faults:
        case Source::Kind::major_faults: return true;
        default: return page.sampling != 0;
    }
}

/// Links the task's active events that concern its thread and tells the host where they begin.
void arm(World& world, Task& task);

}  // namespace anyperf::subsystem
