// group_rules.cpp: which events may be in one group: the checks of perf_event_open() after "if (group_leader)", and
// perf_event_validate_size().
#include "subsystem/events/group_rules.h"

#include <array>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "subsystem/scheduling/counter_assignment.h"
#include "subsystem/shared/read_layout.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kUseClock = abi::flag("use_clockid");
constexpr std::size_t kGroupBytes = std::size_t{16} * 1024;
constexpr std::string_view kTooLarge = "reading the group would take more than 16 KiB";

/// The clock of the event's times; -1 for the default, the scheduler's clock, which has no clockid.
std::int32_t clock_of(const Event& event) {
    return event.flag(kUseClock) ? event.attr.clockid : -1;
}

struct Rule {
    bool (*broken)(const Event& event, const Event& leader);
    std::string_view reason;
};

constexpr std::array kSiblingRules{
    Rule{[](const Event&, const Event& l) { return !l.is_leader(); }, "the event of group_fd is not a group leader"},
    Rule{[](const Event& e, const Event& l) { return clock_of(e) != clock_of(l); }, "the leader uses another clock"},
    Rule{[](const Event& e, const Event& l) { return e.cpu != l.cpu; }, "the leader is bound to another CPU"},
    Rule{[](const Event& e, const Event& l) { return e.task != l.task || e.cpu_wide != l.cpu_wide; },
         "the leader counts another task"},
    Rule{[](const Event& e, const Event& l) { return e.cgroup != l.cgroup; }, "the leader counts another cgroup"},
    Rule{[](const Event& e, const Event& l) {
             if (e.wiring.software) return false;
             for (const Event* member : members(l))
                 if (!member->wiring.software && member->pmu != e.pmu) return true;
             return false;
         },
         "the group has events of another hardware PMU"},
    Rule{[](const Event& e, const Event&) { return e.flag(abi::flag("exclusive") | abi::flag("pinned")); },
         "only a leader can be pinned or exclusive"},
};

}  // namespace

Answer<> check_sibling(const Event& event, const Event& leader) {
    for (const Rule& rule : kSiblingRules)
        if (rule.broken(event, leader)) return refuse(EINVAL, rule.reason);
    return {};
}

// A group that does not fit as a whole even on an idle PMU could never count, so it is refused at once
// (validate_group() in arch/x86/events/core.c). Counters that other groups use do not matter here.
Answer<> check_fits(const Event& event, const Event& leader) {
    if (event.wiring.counters == 0) return {};
    std::vector<std::uint64_t> masks{event.wiring.counters};
    for (const Event* member : members(leader))
        if (&leader != &event && member->pmu == event.pmu) masks.push_back(member->wiring.counters);
    if (!CounterAssignment{}.add(masks)) return refuse(EINVAL, "the PMU has too few counters for the group");
    return {};
}

// Each member's read(2) may return the whole group, so all formats are checked with the new size.
Answer<> check_group_bytes(const Event& event, const Event& leader) {
    if (&event == &leader) return {};
    const std::size_t size = 2 + leader.siblings.size();
    for (const Event* member : members(leader))
        if (read_bytes(member->attr.read_format, size) > kGroupBytes) return refuse(E2BIG, kTooLarge);
    if (read_bytes(event.attr.read_format, size) > kGroupBytes) return refuse(E2BIG, kTooLarge);
    return {};
}

}  // namespace anyperf::subsystem
