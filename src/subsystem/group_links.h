// group_links.h: a group as its members' pages show it to measured threads: EventPage::leader, next_in_group and
// group_size, for their own reads and READ samples.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The event is the newest member of its leader's group, or leads one.
void link_newest(World& world, Event& event);
/// A member has gone, or the group has a new leader: all links of the group.
void link_all(World& world, Event& leader);

}  // namespace anyperf::subsystem
