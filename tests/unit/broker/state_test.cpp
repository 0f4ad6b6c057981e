// state_test.cpp: what the broker keeps of open events, mappings and children.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/state/open_events.h"
#include "broker/state/pending_children.h"
#include "broker/state/ring_mappings.h"
#include "broker/transport/descriptor_set.h"

namespace anyperf::broker {
namespace {

using subsystem::TaskId;

TEST(OpenEvents, InodeOfAClosedEventIsForgotten) {
    OpenEvents events;
    events.add(3, OwnedFd{}, 99);
    EXPECT_EQ(events.with_inode(99), 3u);
    EXPECT_TRUE(events.remove(3));
    EXPECT_FALSE(events.contains(3));
    EXPECT_EQ(events.with_inode(99), 0u);
    EXPECT_FALSE(events.remove(3));
}

/// A socket pair of this process: the ends of the broker and of the program.
struct Pair {
    explicit Pair(int type) {
        std::array<int, 2> pair{-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()), 0);
        broker = OwnedFd{pair[0]};
        program = OwnedFd{pair[1]};
    }
    OwnedFd broker;
    OwnedFd program;
};

TEST(OpenEvents, OnlyAPacketSocketIsWrittenTo) {
    for (const int type : {SOCK_SEQPACKET, SOCK_STREAM, SOCK_DGRAM}) {
        Pair pair{type};
        OpenEvents events;
        events.add(3, std::move(pair.broker), 99);
        events.signal_poll_change(3);
        events.signal_poll_change(3);
        std::array<char, 4> bytes{};
        const ssize_t got = ::recv(pair.program.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        EXPECT_EQ(got, type == SOCK_SEQPACKET ? 1 : -1) << type;
    }
}

TEST(DescriptorSet, EndOfAnEventIsReportedOnceThoughTheProgramKeepsACopyOfTheSocket) {
    Pair pair{SOCK_SEQPACKET};
    const OwnedFd copy{::dup(pair.broker.get())};
    DescriptorSet set;
    set.add(pair.broker.get(), DescriptorKind::event, 3);
    pair.program = OwnedFd{};
    std::array<epoll_event, 2> ready{};
    EXPECT_EQ(set.wait(ready, 0), 1);
    pair.broker = OwnedFd{};
    EXPECT_EQ(set.wait(ready, 0), 0);
}

TEST(RingMappings, MappingIsTakenOnceByEventProcessAndPlace) {
    RingMappings mappings;
    mappings.add(3, 100, {.ring = 1, .offset = 0, .bytes = 4096});
    mappings.add(3, 100, {.ring = 2, .offset = 8192, .bytes = 4096});
    EXPECT_FALSE(mappings.take(4, 100, 0, 4096).has_value());
    EXPECT_FALSE(mappings.take(3, 101, 0, 4096).has_value());
    EXPECT_FALSE(mappings.take(3, 100, 4096, 4096).has_value());
    EXPECT_FALSE(mappings.take(3, 100, 8192, 8192).has_value());
    const auto taken = mappings.take(3, 100, 8192, 4096);
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->ring, 2u);
    EXPECT_FALSE(mappings.take(3, 100, 8192, 4096).has_value());
    EXPECT_TRUE(mappings.take(3, 100, 0, 4096).has_value());
}

TEST(PendingChildren, ChildIsTakenOnce) {
    PendingChildren children;
    const std::uint32_t first = children.add({.parent = {}, .page = 4});
    const std::uint32_t second = children.add({.parent = {}, .page = 5});
    EXPECT_NE(first, 0u);
    EXPECT_NE(first, second);
    const auto taken = children.take(second, TaskId{});
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->page, 5u);
    EXPECT_FALSE(children.take(second, TaskId{}).has_value());
}

TEST(PendingChildren, ChildIsTakenByItsParentOrOnItsOwnPageOnly) {
    PendingChildren children;
    const TaskId parent{1, 100, 100};
    const std::uint32_t child = children.add({.parent = parent, .page = 4});
    EXPECT_FALSE(children.take(child, TaskId{2, 200, 200}).has_value());
    EXPECT_FALSE(children.take_on_page(child, 5).has_value());
    EXPECT_TRUE(children.take_on_page(child, 4).has_value());
    const std::uint32_t other = children.add({.parent = parent, .page = 4});
    EXPECT_TRUE(children.take(other, parent).has_value());
}

TEST(PendingChildren, OnlyChildrenWithAnIdInTheirPageHaveStarted) {
    const RunMemory memory = *RunMemory::make();
    std::ranges::copy(std::string_view{"/proc/self/exe"}, memory.header().engine_path);
    RunThreads threads{memory};
    PendingChildren children;
    const std::uint32_t not_started = children.add({.parent = {}, .page = 4});
    children.add({.parent = {}, .page = 5});
    memory.thread_page(5).state = run::RecordState::live;
    memory.thread_page(5).tid = ::getpid();
    std::vector<TaskId> started;
    const auto note = [&](const PendingChild&, const TaskId& child) { started.push_back(child); };
    children.take_started(threads, note);
    children.take_started(threads, note);
    ASSERT_EQ(started.size(), 1u);
    EXPECT_EQ(started[0], (TaskId{5, ::getpid(), ::getpid()}));
    EXPECT_TRUE(children.take(not_started, TaskId{}).has_value());
}

}  // namespace
}  // namespace anyperf::broker
