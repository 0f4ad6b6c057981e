#include "subsystem/inherit.h"

#include "abi/attr_flags.h"
#include "subsystem/child.h"
#include "subsystem/event_state.h"
#include "subsystem/group_hold.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;

bool passes_on(const Event& leader, ForkKind kind) {
    if (leader.kind == Kind::of_cpu || !leader.flag(flag("inherit"))) return false;
    if (leader.flag(flag("inherit_thread")) && kind != ForkKind::thread) return false;
    return !leader.flag(flag("sigtrap")) || kind != ForkKind::clears_signals;
}

Event& opened(Event& event) {
    return event.parent ? *event.parent : event;
}

/// Nothing passes on what nobody can read any more.
bool readable(Event& event) {
    return opened(event).descriptor || opened(event).mappings != 0;
}

}  // namespace

void inherit(World& world, const Task& parent, Task& child, ForkKind kind) {
    const EventList leaders = parent.leaders;
    for (Event* leader : leaders) {
        if (!passes_on(*leader, kind) || !readable(*leader)) continue;
        hold(world, *leader);
        for (Event* member : members(*leader)) notice_switched(world, *member);
        Event* led = make_child(world, opened(*leader), child, Kind::inherited, *leader, nullptr);
        if (!led) continue;
        for (Event* sibling : leader->siblings)
            if (readable(*sibling)) make_child(world, opened(*sibling), child, Kind::inherited, *sibling, led);
    }
}

}  // namespace anyperf::subsystem
