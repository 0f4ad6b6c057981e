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

namespace {

void release(World& world, Event& leader) {
    leave(leader.page->group, world.host.lock_holder());
    leader.held = false;
}

}  // namespace

void let_go(World& world, Event& leader) {
    if (!leader.held) return;
    release(world, leader);
    std::erase(world.holding, &leader);
}

void let_go(World& world) {
    for (Event* leader : world.holding) release(world, *leader);
    world.holding.clear();
}

}  // namespace anyperf::subsystem
