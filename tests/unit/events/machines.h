// machines.h: the machines of tests/fixtures/machines, and short ways to parse event strings on them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::events {

inline Machine machine(std::string_view name) {
    return Machine::read(std::string{ANYPERF_SOURCE_DIR "/tests/fixtures/machines/"} + std::string{name});
}

/// All events of `text`, with the groups flattened. Fails the test if it does not parse.
inline std::vector<Event> events_of(const Machine& where, std::string_view text) {
    const auto groups = parse(where, text);
    std::vector<Event> events;
    EXPECT_TRUE(groups.has_value()) << text << ": " << (groups ? "" : groups.error().what + groups.error().cause);
    if (!groups) return events;
    for (const EventGroup& group : *groups) events.insert(events.end(), group.events.begin(), group.events.end());
    return events;
}

/// The only event of `text`. Fails the test if there is not exactly one.
inline Event event_of(const Machine& where, std::string_view text) {
    const auto events = events_of(where, text);
    EXPECT_EQ(events.size(), 1) << text;
    return events.empty() ? Event{} : events.front();
}

inline std::vector<std::string> names_of(const Machine& where, std::string_view text) {
    std::vector<std::string> names;
    for (const Event& event : events_of(where, text)) names.push_back(event.name);
    return names;
}

/// The error of `text`. Fails the test if it parses.
inline Error error_of(const Machine& where, std::string_view text) {
    const auto groups = parse(where, text);
    EXPECT_FALSE(groups.has_value()) << text;
    return groups ? Error{} : groups.error();
}

}  // namespace anyperf::events
