// group_failure_test.cpp: a member that the running kernel refuses because of its group is explained by the group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "anyperf/counter_set.h"
#include "anyperf/group.h"
#include "host/child.h"

namespace anyperf::host {
namespace {

using testing::HasSubstr;

/// A leader, and a member that is pinned, which only a leader may be. They are events that every machine has.
events::EventGroup with_pinned_member() {
    constexpr std::uint64_t kPinned = 1 << 2;
    events::EventGroup group;
    for (const std::uint64_t flags : {std::uint64_t{0}, kPinned}) {
        events::Event event;
        event.name = "dummy";
        event.attr = dummy().attr;
        event.attr.flags |= flags;
        group.events.push_back(event);
    }
    return group;
}

TEST(RefusedMember, OfAGroupIsExplainedByTheGroup) {
    const auto group = counting::Group::open(with_pinned_member(), {}, {});
    ASSERT_FALSE(group);
    EXPECT_THAT(group.error().cause, HasSubstr("only a group leader may have attr.pinned"));
}

TEST(RefusedMember, OfASetIsExplainedByTheGroup) {
    const auto set =
        counting::CounterSet::open(std::array{with_pinned_member()}, counting::Target::process(::getpid()), {});
    ASSERT_FALSE(set);
    EXPECT_THAT(set.error().cause, HasSubstr("only a group leader may have attr.pinned"));
}

}  // namespace
}  // namespace anyperf::host
