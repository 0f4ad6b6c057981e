// armed_list.h: the list that a thread walks at its safe points: its events that may overflow. EventPage::next_armed.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Links the task's active sampling events and tells the host where they begin.
void arm(World& world, Task& task);

}  // namespace anyperf::subsystem
