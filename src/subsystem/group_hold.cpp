#include "subsystem/group_hold.h"

namespace anyperf::subsystem {

void hold(World& world, Event& event) {
    Event& leader = *event.leader;
    if (leader.held) return;
    take(leader.page->group, world.host.lock_holder(),
         [&world](std::int32_t who) { return world.host.abandoned(who); });
    leader.held = true;
    world.holding.push_back(&leader);
}

void let_go(World& world, Event& leader) {
    if (!leader.held) return;
    leave(leader.page->group, world.host.lock_holder());
    leader.held = false;
    std::erase(world.holding, &leader);
}

void let_go(World& world) {
    while (!world.holding.empty()) let_go(world, *world.holding.back());
}

}  // namespace anyperf::subsystem
