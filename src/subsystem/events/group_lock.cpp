#include "subsystem/events/group_lock.h"

namespace anyperf::subsystem {

void lock_group(World& world, Event& event) {
    Event& leader = *event.leader;
    if (leader.group_locked) return;
    lock_page(leader.page->group_lock, world.host.lock_holder(),
              [&world](std::int32_t holder) { return world.host.is_abandoned(holder); });
    leader.group_locked = true;
    world.locked_groups.push_back(&leader);
}

namespace {

/// Unlocks the page. The caller removes the leader from World::locked_groups.
void unlock(World& world, Event& leader) {
    unlock_page(leader.page->group_lock, world.host.lock_holder());
    leader.group_locked = false;
}

}  // namespace

void unlock_group(World& world, Event& leader) {
    if (!leader.group_locked) return;
    unlock(world, leader);
    std::erase(world.locked_groups, &leader);
}

void unlock_groups(World& world) {
    for (Event* leader : world.locked_groups) unlock(world, *leader);
    world.locked_groups.clear();
}

}  // namespace anyperf::subsystem
