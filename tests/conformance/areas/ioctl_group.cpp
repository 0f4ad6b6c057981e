// ioctl_group.cpp: ENABLE, DISABLE and RESET on groups, with and without PERF_IOC_FLAG_GROUP; siblings of a closed
// leader; PR_TASK_PERF_EVENTS_ENABLE and _DISABLE of prctl(2).
#include <sys/prctl.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/workload.h"

namespace conformance {

namespace {

using Words = std::vector<std::uint64_t>;

Attr counting() {
    return changed(page_faults(), [](Attr& a) { a.disabled = 0; });
}

/// A disabled leader with two siblings, one enabled and one disabled.
struct Group {
    Faults faults;
    Event leader{page_faults()};
    Event on = sibling(counting(), leader);
    Event off = sibling(page_faults(), leader);

    void reset() const {
        for (const Event* event : {&off, &on, &leader}) event->reset();
    }
    Words counts() const { return {leader.count(), on.count(), off.count()}; }
};

/// Operations on the group, and what its events then count of 4 faults: the leader, the sibling that was opened
/// enabled, and the one that was opened disabled.
struct Row {
    const char* name;
    const char* statement;
    void (*change)(Group&);
    std::array<std::uint64_t, 3> counts;
};

constexpr std::array kRows{
    Row{"leader_disabled", "while the leader is disabled no event of the group counts", [](Group&) {}, {0, 0, 0}},
    Row{"leader_on",
        "ENABLE of the leader starts it and the siblings that are enabled",
        [](Group& g) { g.leader.enable(); },
        {4, 4, 0}},
    Row{"group_on",
        "ENABLE with FLAG_GROUP starts all events of the group",
        [](Group& g) { g.leader.enable(PERF_IOC_FLAG_GROUP); },
        {4, 4, 4}},
    Row{"group_on_by_sibling",
        "ENABLE of a sibling with FLAG_GROUP starts all events of the group",
        [](Group& g) { g.off.enable(PERF_IOC_FLAG_GROUP); },
        {4, 4, 4}},
    Row{"sibling_on",
        "ENABLE of a sibling does not start it while the leader is disabled",
        [](Group& g) { g.off.enable(); },
        {0, 0, 0}},
    Row{"sibling_on_then_leader",
        "a sibling enabled while the leader is disabled starts with the leader",
        [](Group& g) {
            g.off.enable();
            g.leader.enable();
        },
        {4, 4, 4}},
    Row{"leader_on_sibling_on",
        "ENABLE of a sibling of a running leader starts it",
        [](Group& g) {
            g.leader.enable();
            g.off.enable();
        },
        {4, 4, 4}},
    Row{"sibling_off",
        "DISABLE of a sibling stops only that sibling",
        [](Group& g) {
            g.leader.enable();
            g.on.disable();
        },
        {4, 0, 0}},
    Row{"leader_off",
        "DISABLE of the leader stops the whole group",
        [](Group& g) {
            g.leader.enable(PERF_IOC_FLAG_GROUP);
            g.leader.disable();
        },
        {0, 0, 0}},
    Row{"leader_off_on",
        "DISABLE and ENABLE of the leader keep the siblings' own states",
        [](Group& g) {
            g.leader.enable();
            g.leader.disable();
            g.leader.enable();
        },
        {4, 4, 0}},
    Row{"group_off_leader_on",
        "DISABLE with FLAG_GROUP disables the siblings, too: ENABLE of the leader does not start them",
        [](Group& g) {
            g.leader.enable(PERF_IOC_FLAG_GROUP);
            g.leader.disable(PERF_IOC_FLAG_GROUP);
            g.leader.enable();
        },
        {4, 0, 0}},
    Row{"group_off_by_sibling",
        "DISABLE of a sibling with FLAG_GROUP stops all events of the group",
        [](Group& g) {
            g.leader.enable(PERF_IOC_FLAG_GROUP);
            g.on.disable(PERF_IOC_FLAG_GROUP);
        },
        {0, 0, 0}},
};

void check(const Row& row) {
    Group group;
    group.leader.enable(PERF_IOC_FLAG_GROUP);  // touches the pages of the code that is measured below
    group.faults.cause(1);
    group.leader.disable();
    group.reset();
    [[maybe_unused]] const Words ignored = group.counts();
    group.off.disable();
    row.change(group);
    group.reset();
    group.faults.cause(4);
    want_equal("leader, enabled sibling, disabled sibling", group.counts(),
               Words{row.counts.begin(), row.counts.end()});
}

void reset(unsigned long flags, bool through_leader, std::array<bool, 3> is_reset) {
    Group group;
    group.leader.enable(PERF_IOC_FLAG_GROUP);
    group.faults.cause(3);
    group.leader.disable(PERF_IOC_FLAG_GROUP);
    Words expected = group.counts();
    (through_leader ? group.leader : group.on).reset(flags);
    for (std::size_t i = 0; i < 3; ++i)
        if (is_reset.at(i)) expected[i] = 0;
    want_equal("leader, enabled sibling, disabled sibling", group.counts(), expected);
}

void orphans_keep_counts() {
    Faults faults;
    Event leader{page_faults()};
    const Event member = sibling(changed(counting(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; }), leader);
    leader.enable();
    faults.cause(3);
    leader.disable();
    leader.close();
    const Words words = member.words();
    want_equal("nr", words.at(0), 1U);
    want_at_least("value", words.at(1), 3U);
}

void orphans_still_count() {
    Faults faults;
    Event leader{counting()};
    const Event member = sibling(counting(), leader);
    leader.close();
    const std::uint64_t before = member.count();
    faults.cause(5);
    want_equal("faults after the leader's close", member.count() - before, 5U);
}

void orphan_of_a_disabled_leader() {
    Faults faults;
    Event leader{page_faults()};
    const Event member = sibling(counting(), leader);
    faults.cause(2);
    want_equal("before the leader's close", member.count(), 0U);
    leader.close();
    in_child([] {});  // this task is switched out and in again
    const std::uint64_t before = member.count();
    faults.cause(5);
    want_at_least("after the leader's close", member.count() - before, 5U);
}

void orphan_ioctls() {
    Faults faults;
    Event leader{counting()};
    const Event member = sibling(counting(), leader);
    leader.close();
    member.disable();
    const std::uint64_t before = member.count();
    faults.cause(5);
    want_equal("faults while disabled", member.count() - before, 0U);
    member.enable();
    faults.cause(2);
    member.disable();
    want_equal("faults while enabled", member.count() - before, 2U);
}

void set_all_events(bool enable) {
    want_success("prctl", or_errno(::prctl(enable ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE)));
}

void prctl_disables() {
    Faults faults;
    const Event first{counting()};
    const Event second{counting()};
    set_all_events(false);
    set_all_events(true);
    set_all_events(false);
    const Words before{first.count(), second.count()};
    faults.cause(3);
    want_equal("while disabled", Words{first.count(), second.count()}, before);
    set_all_events(true);
    faults.cause(2);
    set_all_events(false);
    want_equal("of the first", first.count() - before[0], 2U);
    want_equal("of the second", second.count() - before[1], 2U);
}

void prctl_on_siblings() {
    Group group;
    set_all_events(true);
    set_all_events(false);
    group.reset();
    set_all_events(true);
    group.faults.cause(4);
    set_all_events(false);
    const Words counts = group.counts();
    for (const std::uint64_t count : counts) want_at_least("faults of each member", count, 4U);
}

void prctl_spares_others_events() {
    Faults faults;
    Child child{{[&] {
                     faults.cause(1);
                     set_all_events(false);
                     set_all_events(false);
                 },
                 [&] { faults.cause(5); }}};
    const Event of_parent{counting(), child.pid()};
    child.step();
    const std::uint64_t before = of_parent.count();
    child.step();
    want_at_least("faults of an event that another task has opened on the task", of_parent.count() - before, 5U);
}

void prctl_on_events_of_other_tasks() {
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(5); }}};
    const Event on_child{counting(), child.pid()};
    child.step();
    set_all_events(false);
    const std::uint64_t before = on_child.count();
    child.step();
    want_equal("faults of an event of the caller on another task", on_child.count() - before, 0U);
}

void prctl_other_thread() {
    Faults faults;
    const Event event{counting()};
    in_thread([] { set_all_events(false); });
    const std::uint64_t before = event.count();
    faults.cause(3);
    want_at_least("faults of an event of another thread", event.count() - before, 3U);
}

}  // namespace

std::vector<Case> ioctl_group_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows) cases.push_back({row.name, row.statement, kNothing, [&row] { check(row); }});
    append(
        cases,
        {
            {"reset_leader", "RESET of the leader resets only the leader", kNothing,
             [] { reset(0, true, {true, false, false}); }},
            {"reset_sibling", "RESET of a sibling resets only that sibling", kNothing,
             [] { reset(0, false, {false, true, false}); }},
            {"reset_group", "RESET with FLAG_GROUP resets all events of the group", kNothing,
             [] { reset(PERF_IOC_FLAG_GROUP, true, {true, true, true}); }},
            {"reset_group_by_sibling", "RESET of a sibling with FLAG_GROUP resets all events of the group", kNothing,
             [] { reset(PERF_IOC_FLAG_GROUP, false, {true, true, true}); }},
            {"orphan_keeps_count", "a sibling of a closed leader keeps its count, and its read has nr 1", kNothing,
             orphans_keep_counts},
            {"orphan_counts_on", "a sibling of a closed leader continues to count", kNothing, orphans_still_count},
            {"orphan_of_disabled", "an enabled sibling of a disabled leader starts to count when the leader is closed",
             kNothing, orphan_of_a_disabled_leader},
            {"orphan_is_controlled", "a sibling of a closed leader can be enabled and disabled on its own", kNothing,
             orphan_ioctls},
            {"prctl", "prctl(2) stops and starts all events that the thread has opened", kNothing, prctl_disables},
            {"prctl_siblings", "prctl(2) stops and starts siblings, too", kNothing, prctl_on_siblings},
            {"prctl_not_others", "prctl(2) does not affect events that others have opened on the task", kNothing,
             prctl_spares_others_events},
            {"prctl_own_on_others", "prctl(2) affects events that the thread has opened on other tasks", kNothing,
             prctl_on_events_of_other_tasks},
            {"prctl_other_thread", "prctl(2) does not affect events of other threads", kNothing, prctl_other_thread},
        });
    return cases;
}

}  // namespace conformance
