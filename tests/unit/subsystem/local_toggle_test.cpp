// local_toggle_test.cpp: a thread that enables, disables and resets its own events has the same counts, times and
// states as one that requests this from the subsystem. The random test makes the same calls in two worlds and compares
// them.
#include <random>

#include "subsystem/shared/local_toggle.h"
#include "subsystem/shared/page_lock.h"
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

/// The thread, as the functions under test see it.
struct Self {
    struct Held : ScopedPageLock {
        Held(Self& self, PageLock& lock)
            : ScopedPageLock(lock, self.task.name.tid, [](std::int32_t) { return false; }), held(!self.gives_up) {}
        explicit operator bool() const { return held; }
        bool held;
    };

    EventPage* page(EventIndex event) const { return &host.event_page(event); }
    bool counts_this_thread(const EventPage& page) const { return page.thread_page == task.name.thread_page; }
    std::uint64_t value(const Source& source) const { return host.value(task.name, source); }
    std::uint64_t clock() const { return task.ran_ns; }
    void publish(EventPage&) { ++published; }

    FakeHost& host;
    FakeTask& task;
    int published = 0;
    bool gives_up = false;  ///< another thread holds every lock for too long
};

class LocalToggle : public SubsystemTest {
  protected:
    Self self{host, me};

    bool enable_locally(EventIndex event, bool group = false) {
        return toggle_locally(self, event, EventState::inactive, group);
    }
    bool disable_locally(EventIndex event, bool group = false) {
        return toggle_locally(self, event, EventState::off, group);
    }
};

TEST_F(LocalToggle, StartsAndStopsTheEvent) {
    const auto event = open(with_format(counting(0, kDisabled), kTimes));
    me.run(5, 100);
    ASSERT_TRUE(enable_locally(event));
    me.run(7, 30);
    EXPECT_THAT(read(event), ElementsAre(30, 7, 7)) << "the subsystem has the same count";
    ASSERT_TRUE(disable_locally(event));
    me.run(11, 1000);
    EXPECT_THAT(read(event), ElementsAre(30, 7, 7));
    ASSERT_TRUE(reset_locally(self, event, false));
    EXPECT_THAT(read(event), ElementsAre(0, 7, 7));
    enable(event);
    me.run(1, 2);
    EXPECT_THAT(read(event), ElementsAre(2, 8, 8)) << "either may continue after the other";
}

TEST_F(LocalToggle, IsLeftToTheHostWhileALockIsHeldForTooLong) {
    const auto event = open(counting(0, kDisabled));
    self.gives_up = true;
    EXPECT_FALSE(enable_locally(event));
    EXPECT_FALSE(reset_locally(self, event, false));
    self.gives_up = false;
    EXPECT_TRUE(enable_locally(event));
}

TEST_F(LocalToggle, OfASiblingWaitsForItsLeader) {
    const auto leader = open(counting(0, kDisabled));
    const auto sibling = open_sibling(counting(0, kDisabled), leader);
    ASSERT_TRUE(enable_locally(sibling));
    me.run(1, 10);
    EXPECT_EQ(count(sibling), 0);
    ASSERT_TRUE(enable_locally(leader));
    me.run(1, 10);
    EXPECT_EQ(count(sibling), 10);
    ASSERT_TRUE(disable_locally(leader, true));
    enable(leader);
    me.run(1, 10);
    EXPECT_EQ(count(sibling), 10) << "its own requested state is off, too";
}

TEST_F(LocalToggle, IsRefusedIfOthersAreInvolved) {
    FakeTask& other = host.start(100, 101);
    const auto far = open(counting(), {.pid = 101});
    const auto bound = open(counting(), {.cpu = 0});
    const auto inherited = open(counting(0, flag("inherit")));
    fork(me, 300);
    const auto made = open(software(FakeSoftwarePmu::kCountedByThread));
    const auto leader = open(counting());
    open_sibling(software(FakeSoftwarePmu::kCountedByThread), leader);
    for (const EventIndex event : {far, bound, inherited, made, leader}) {
        EXPECT_FALSE(disable_locally(event)) << event;
        EXPECT_FALSE(reset_locally(self, event, false)) << event;
        EXPECT_EQ(page(event).requested_state, EventState::inactive) << event;
    }
    EXPECT_EQ(page(far).thread_page, other.name.thread_page);
}

TEST_F(LocalToggle, IsRefusedWhileCountersAreScarce) {
    const auto before = open(counting());
    cpu.counters = 0b1;
    const auto scarce = open(counting());
    EXPECT_FALSE(disable_locally(scarce));
    EXPECT_FALSE(disable_locally(before)) << "it may now compete with others for counters";
    subsystem.close(scarce);
    EXPECT_TRUE(disable_locally(before));
}

TEST_F(LocalToggle, IsRefusedOnceTheEventHasEnded) {
    const auto event = open(counting(0, flag("remove_on_exec")));
    subsystem.task_exec(me.name, me.name);
    EXPECT_FALSE(enable_locally(event));
    EXPECT_FALSE(reset_locally(self, event, false));
}

TEST_F(LocalToggle, ReleasesItsLocks) {
    const auto leader = open(counting());
    const auto sibling = open_sibling(counting(), leader);
    disable_locally(leader, true);
    subsystem.close(leader);
    EXPECT_TRUE(enable_locally(sibling));
    EXPECT_EQ(page(sibling).group_lock.holder, 0);
    EXPECT_EQ(page(sibling).lock.holder, 0);
}

/// One of the two worlds of the random test.
class World : public LocalToggle {
  public:
    void TestBody() override {}

    std::optional<EventIndex> if_leader(std::size_t which) {
        return page(events[which]).leader == events[which] ? std::optional{events[which]} : std::nullopt;
    }

    void open_one(std::optional<EventIndex> leader, std::uint64_t flags, bool samples) {
        Attr attr = with_format(counting(0, flags), kTimes);
        if (samples) attr = with_period(attr, 1000);
        events.push_back(open(attr, {.group = leader}));
    }
    void change(std::size_t which, int what, bool group, bool locally) {
        const EventIndex event = events[which];
        const bool done = locally && (what == 0   ? enable_locally(event, group)
                                      : what == 1 ? disable_locally(event, group)
                                                  : reset_locally(self, event, group));
        if (done) return;
        const std::uint64_t word = group ? 1 : 0;
        what == 0 ? enable(event, word) : what == 1 ? disable(event, word) : reset(event, word);
    }
    std::vector<std::uint64_t> state(EventIndex event) {
        auto all = read(event);
        all.push_back(static_cast<std::uint64_t>(page(event).state));
        all.push_back(static_cast<std::uint64_t>(page(event).requested_state));
        all.push_back(period_left_at(page(event), me.counters[0]));
        return all;
    }
    void run(std::uint64_t count) { me.run(3, count); }
    void close_one(std::size_t which) {
        subsystem.close(events[which]);
        events.erase(events.begin() + static_cast<std::ptrdiff_t>(which));
    }

    std::vector<EventIndex> events;
};

class RandomLocalToggles : public testing::TestWithParam<int> {};

TEST_P(RandomLocalToggles, MatchTheSubsystem) {
    std::mt19937 random{static_cast<std::mt19937::result_type>(GetParam())};
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    World by_subsystem;
    World by_thread;
    for (int step = 0; step < 400; ++step) {
        const std::size_t events = by_subsystem.events.size();
        const std::size_t what = below(12);
        if (events == 0 || (what == 0 && events < 12)) {
            const std::uint64_t flags = below(2) == 0 ? kDisabled : 0;
            const bool samples = below(4) == 0;
            const bool joins = events != 0 && below(2) == 0;
            const std::size_t leader = events == 0 ? 0 : below(events);
            for (World* world : {&by_subsystem, &by_thread}) {
                world->open_one(joins ? world->if_leader(leader) : std::nullopt, flags, samples);
            }
        } else if (what == 1) {
            const std::size_t which = below(events);
            for (World* world : {&by_subsystem, &by_thread}) world->close_one(which);
        } else if (what < 4) {
            const std::size_t count = below(100);
            for (World* world : {&by_subsystem, &by_thread}) world->run(count);
        } else {
            const std::size_t which = below(events);
            const int change = static_cast<int>(below(3));
            const bool group = below(3) == 0;
            by_subsystem.change(which, change, group, false);
            by_thread.change(which, change, group, below(4) != 0);
        }
        for (std::size_t i = 0; i < by_subsystem.events.size(); ++i)
            ASSERT_EQ(by_thread.state(by_thread.events[i]), by_subsystem.state(by_subsystem.events[i]))
                << "step " << step << ", event " << i;
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLocalToggles, testing::Range(0, 12));

}  // namespace
}  // namespace anyperf::subsystem
