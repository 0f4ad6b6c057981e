// output.cpp: which ring an event writes to, and which events may share one: the checks of perf_event_set_output().
// All events that share a ring use the same clock and the same direction (write_backward). They are bound to one CPU or
// count one task, because writers on several CPUs would contend for the ring.
#include "subsystem/output/output.h"

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kUseClock = abi::flag("use_clockid");
constexpr auto kBackward = abi::flag("write_backward");

struct Rule {
    bool (*broken)(const Event& event, const Event& target);
    std::string_view reason;
};

constexpr std::array kOutputRules{
    Rule{[](const Event& e, const Event& t) { return &e == &t; }, "an event can't be redirected to itself"},
    Rule{[](const Event& e, const Event& t) { return e.cpu != t.cpu; }, "the events are bound to different CPUs"},
    Rule{[](const Event& e, const Event& t) { return t.cpu == -1 && e.task != t.task; },
         "the events count different tasks, and are not bound to one CPU"},
    Rule{[](const Event& e, const Event& t) {
             return ((e.attr.flags ^ t.attr.flags) & kUseClock) != 0 ||
                    (e.flag(kUseClock) && e.attr.clockid != t.attr.clockid);
         },
         "the events use different clocks"},
    Rule{[](const Event& e, const Event& t) { return ((e.attr.flags ^ t.attr.flags) & kBackward) != 0; },
         "the events differ in write_backward"},
    Rule{[](const Event& e, const Event&) { return e.mappings != 0; }, "the event's own ring is mapped"},
    Rule{[](const Event&, const Event& t) { return t.ring == 0; }, "the other event has no ring"},
};

}  // namespace

Answer<> check_output(World&, const Event& event, const Event& target) {
    for (const Rule& rule : kOutputRules)
        if (rule.broken(event, target)) return refuse(EINVAL, rule.reason);
    return {};
}

void redirect(World& world, Event& event, const Event& target) {
    set_ring(world, event, target.ring);
}

// Children write to their parent's ring. The pollers of the event are woken, because another ring decides now whether
// it is readable.
void set_ring(World& world, Event& event, RingIndex ring) {
    const RingIndex was = event.ring;
    if (was == ring) return;
    if (was != 0) std::erase(world.rings.at(was).writers, &event);
    if (ring != 0) world.rings.at(ring).writers.push_back(&event);
    // The measured thread reads the ring's number under the page's lock, so each record goes entirely to the old ring
    // or entirely to the new one.
    const auto point = [&](Event& one) {
        one.ring = ring;
        LockedPage(world, one)->ring = ring;
    };
    point(event);
    for (Event* child : event.children) point(*child);
    world.host.poll_changed(event.index);
}

void wake_readers(World& world, RingIndex ring) {
    const auto record = world.rings.find(ring);
    if (record == world.rings.end()) return;
    for (const Event* writer : record->second.writers) world.host.poll_changed(writer->index);
}

void drop_ring(World& world, Event& event) {
    set_ring(world, event, 0);
}

}  // namespace anyperf::subsystem
