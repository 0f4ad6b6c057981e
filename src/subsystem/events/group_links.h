// group_links.h: writes a group's structure into its members' pages (EventPage::leader, next_in_group, group_size),
// where measured threads use it for their own reads, for READ samples and for local toggles.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Links the newest member of a group, or a new leader.
void link_newest(World& world, Event& event);
/// Links the whole group anew, after a member has left or the leader has changed.
void link_all(World& world, Event& leader);

}  // namespace anyperf::subsystem
