#include "subsystem/events/inherit.h"

#include "abi/attr_flags.h"
#include "subsystem/events/child_event.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/group_lock.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;

/// Whether this kind of fork inherits the group (inherit_event(), inherit_task_group()).
bool passes_on(const Event& leader, ForkKind kind) {
    if (leader.kind == Kind::cpu_wide_part || !leader.flag(flag("inherit"))) return false;
    if (leader.flag(flag("inherit_thread")) && kind != ForkKind::thread) return false;
    return !leader.flag(flag("sigtrap")) || kind != ForkKind::clears_signals;
}

/// The event that a client opened: the event itself, or the one that it was inherited from.
Event& opened(Event& event) {
    return event.parent ? *event.parent : event;
}

/// Whether a client can still read the event. An event that is neither open nor mapped is not inherited
/// (is_orphaned_event()).
bool readable(Event& event) {
    return opened(event).has_descriptor || opened(event).mappings != 0;
}

}  // namespace

// The loop walks a copy of the list, because attaching a child changes lists of tasks. Parts of cpu-wide events are not
// inherited: the child gets parts of its own (cpu_wide.cpp).
void inherit(World& world, const Task& parent, Task& child, ForkKind kind) {
    const EventList leaders = parent.leaders;
    for (Event* leader : leaders) {
        if (!passes_on(*leader, kind) || !readable(*leader)) continue;
        lock_group(world, *leader);
        for (Event* member : members(*leader)) sync_state_from_page(world, *member);
        Event* child_leader = make_child(world, opened(*leader), child, Kind::inherited, *leader, nullptr);
        if (!child_leader) continue;
        for (Event* sibling : leader->siblings)
            if (readable(*sibling)) make_child(world, opened(*sibling), child, Kind::inherited, *sibling, child_leader);
    }
}

}  // namespace anyperf::subsystem
