// hardware_scarce.cpp: more events than counters: multiplexing, pinned events and their error state, exclusive groups,
// and groups that run as a whole.
#include <algorithm>
#include <array>
#include <ctime>
#include <string>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr int kMany = 64;
constexpr std::uint64_t kTimes = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

Attr timed(void (*change)(Attr&) = [](Attr&) {}) {
    return changed(hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS), [&](Attr& a) {
        a.disabled = 0;
        a.read_format = kTimes;
        change(a);
    });
}

std::vector<Event> many(const Attr& attr) {
    std::vector<Event> events;
    events.reserve(kMany);
    for (int i = 0; i < kMany; ++i) events.emplace_back(attr);
    return events;
}

/// Works until every event has run, at most for 10 s of CPU time.
void work_until_all_ran(const std::vector<Event>& events) {
    const auto ran = [&] {
        for (const Event& event : events)
            if (event.words()[2] == 0) return false;
        return true;
    };
    for (const std::clock_t until = std::clock() + 10 * CLOCKS_PER_SEC; std::clock() < until && !ran();)
        conformance_loop(1'000'000);
}

void rotation() {
    const auto events = many(timed());
    work_until_all_ran(events);
    bool scarce = false;
    for (const Event& event : events) {
        const auto words = event.words();
        want_at_least("running of every event", words[2], 1U);
        want_at_most("running", words[2], words[1]);
        scarce = scarce || words[2] < words[1];
    }
    want("some events ran for less time than they were enabled", scarce);
}

/// With an interval of ten seconds nothing rotates within a fraction of a second.
void long_interval() {
    const std::string setting = "/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms";
    want_success("writing the interval", write_to(setting, "10000"));
    const auto events = many(timed());
    for (const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 5; std::clock() < until;)
        conformance_loop(1'000'000);
    const auto waiting = std::ranges::count_if(events, [](const Event& event) { return event.words()[2] == 0; });
    write_to(setting, "4");
    want("some events have not run", waiting != 0);
    work_until_all_ran(events);
    for (const Event& event : events) want_at_least("running after the interval is 4 ms again", event.words()[2], 1U);
}

/// The speed of the machine varies: the scaled count of one event may be far off, but the mean of many is close to the
/// count.
void scaled() {
    const Event always{timed([](Attr& a) { a.pinned = 1; })};
    const auto events = many(timed());
    for (const std::clock_t until = std::clock() + CLOCKS_PER_SEC; std::clock() < until;) conformance_loop(10'000'000);
    double sum = 0;
    for (const Event& event : events) {
        const auto words = event.words();
        sum += static_cast<double>(words[0]) * static_cast<double>(words[1]) / static_cast<double>(words[2]);
    }
    const double mean = sum / kMany / static_cast<double>(always.words()[0]);
    want("the mean of count × enabled / running is within a fifth of the count of an event that always ran",
         mean > 0.8 && mean < 1.2);
}

void pinned_always_runs() {
    const Event pinned{timed([](Attr& a) { a.pinned = 1; })};
    const auto events = many(timed());
    work_until_all_ran(events);
    const auto words = pinned.words();
    want_equal("running of a pinned event", words.at(2), words.at(1));
}

void pinned_error() {
    const auto events = many(timed([](Attr& a) { a.pinned = 1; }));
    conformance_loop(10'000'000);
    int failed = 0;
    const Event* in_error = nullptr;
    for (const Event& event : events)
        if (event.read_result(64) == 0) {
            ++failed;
            in_error = &event;
        }
    want_at_least("pinned events in error state, whose read returns end of file", failed, 1);
    in_error->disable();
    want_equal("read after DISABLE", in_error->read_result(64), 24);
}

void group_too_large() {
    const Event leader{timed()};
    std::vector<Event> members;
    long result = 0;
    while (result >= 0 && members.size() < kMany) {
        Call call{.attr = timed(), .group = leader.fd()};
        result = open_event(call);
        if (result >= 0) members.push_back(Event::adopt(static_cast<int>(result)));
    }
    want_result("a group that never fits", result, EINVAL);
}

void group_as_a_whole() {
    const Event leader{timed([](Attr& a) {
        a.read_format |= PERF_FORMAT_GROUP;
        a.disabled = 1;
    })};
    const Event member = sibling(timed(), leader);
    const auto events = many(timed());
    leader.enable();
    work_until_all_ran(events);
    leader.disable();
    const auto words = leader.words();
    want_equal("nr", words.at(0), 2U);
    want_equal("running of the sibling", member.words().at(2), words.at(2));
    const std::uint64_t difference = words.at(3) > words.at(4) ? words.at(3) - words.at(4) : words.at(4) - words.at(3);
    want_at_most("difference of two equal members", difference, words.at(3) / 100 + 1000);
}

void software_always_runs() {
    const auto events = many(timed());
    const Event clock{changed(task_clock(), [](Attr& a) {
        a.disabled = 0;
        a.read_format = kTimes;
    })};
    work_until_all_ran(events);
    const auto words = clock.words();
    want_equal("running of a software event", words.at(2), words.at(1));
}

void exclusive() {
    const Event alone{timed([](Attr& a) { a.exclusive = 1; })};
    const Event other{timed()};
    for (const std::clock_t until = std::clock() + 10 * CLOCKS_PER_SEC;
         std::clock() < until && (alone.words()[2] == 0 || other.words()[2] == 0);)
        conformance_loop(1'000'000);
    alone.disable();
    other.disable();
    const auto first = alone.words();
    const auto second = other.words();
    want_at_most("running of both together", first.at(2) + second.at(2),
                 std::max(first.at(1), second.at(1)) + 1'000'000U);
}

}  // namespace

std::vector<Case> hardware_scarce_cases() {
    constexpr unsigned kNeeds = kHardware | kFewCounters;
    return {
        {"rotation",
         "if there are more events than counters, all of them run for a part of the time, and report how long", kNeeds,
         rotation},
        {"interval", "perf_event_mux_interval_ms says how long events wait for their turn", kNeeds | kSysctl,
         long_interval},
        {"scaled", "the mean of counts scaled by their times is close to the actual count", kNeeds, scaled},
        {"pinned", "a pinned event always runs", kNeeds, pinned_always_runs},
        {"pinned_error", "read of a pinned event that got no counter returns 0 until it is enabled or disabled", kNeeds,
         pinned_error},
        {"group_too_large", "a group that could never run is refused", kNeeds, group_too_large},
        {"group", "a group runs as a whole or not at all", kNeeds, group_as_a_whole},
        {"software", "a software event always runs", kNeeds, software_always_runs},
        {"exclusive", "an exclusive group is alone on the PMU", kNeeds, exclusive},
    };
}

}  // namespace conformance
