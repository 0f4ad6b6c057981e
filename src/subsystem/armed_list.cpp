#include "subsystem/armed_list.h"

#include <ranges>

#include "subsystem/event.h"

namespace anyperf::subsystem {

void arm(World& world, Task& task) {
    EventIndex first = 0;
    const auto link = [&](Event& event) {
        if (!concerns_thread(*event.page)) return;
        Locked page(world, event);
        const bool active = page->state == EventState::active;
        page->next_armed = active ? first : 0;
        if (active) first = event.index;
    };
    // From the end, so that a list that is being walked always leads on to its end.
    for (Event* leader : task.leaders | std::views::reverse) {
        for (Event* sibling : leader->siblings | std::views::reverse) link(*sibling);
        link(*leader);
    }
    world.host.arm(task.name, first);
}

}  // namespace anyperf::subsystem
