// A thread that switches its own events (shared/own_switch.h) against the subsystem that is asked to: the same calls,
// in two worlds, have the same counts, times and states.
#include <random>

#include "subsystem/shared/own_switch.h"
#include "subsystem/shared/page_lock.h"
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

/// A thread of the fake run.
struct Self {
    struct Held : PageHeld {
        Held(Self& self, PageLock& lock) : PageHeld(lock, self.task.name.tid, [](std::int32_t) { return false; }) {}
    };

    EventPage* page(EventIndex event) const { return &host.event_page(event); }
    bool counts_me(const EventPage& page) const { return page.thread_page == task.name.thread_page; }
    std::uint64_t value(const Source& source) const { return host.value(task.name, source); }
    std::uint64_t clock() const { return task.ran_ns; }
    void publish(EventPage&) { ++published; }

    FakeHost& host;
    FakeTask& task;
    int published = 0;
};

class OwnSwitch : public SubsystemTest {
  protected:
    Self self{host, me};

    bool enable_own(EventIndex event, bool group = false) {
        return switch_own(self, event, EventState::inactive, group);
    }
    bool disable_own(EventIndex event, bool group = false) { return switch_own(self, event, EventState::off, group); }
};

TEST_F(OwnSwitch, AnEventCountsFromThereOn) {
    const auto event = open(with_format(counting(0, kDisabled), kTimes));
    me.run(5, 100);
    ASSERT_TRUE(enable_own(event));
    me.run(7, 30);
    EXPECT_THAT(read(event), ElementsAre(30, 7, 7)) << "and the subsystem knows";
    ASSERT_TRUE(disable_own(event));
    me.run(11, 1000);
    EXPECT_THAT(read(event), ElementsAre(30, 7, 7));
    ASSERT_TRUE(reset_own(self, event, false));
    EXPECT_THAT(read(event), ElementsAre(0, 7, 7));
    enable(event);
    me.run(1, 2);
    EXPECT_THAT(read(event), ElementsAre(2, 8, 8)) << "either may go on where the other was";
}

TEST_F(OwnSwitch, ASiblingWaitsForItsLeader) {
    const auto leader = open(counting(0, kDisabled));
    const auto sibling = open_sibling(counting(0, kDisabled), leader);
    ASSERT_TRUE(enable_own(sibling));
    me.run(1, 10);
    EXPECT_EQ(count(sibling), 0);
    ASSERT_TRUE(enable_own(leader));
    me.run(1, 10);
    EXPECT_EQ(count(sibling), 10);
    ASSERT_TRUE(disable_own(leader, true));
    enable(leader);
    me.run(1, 10);
    EXPECT_EQ(count(sibling), 10) << "it was told to be off, too";
}

TEST_F(OwnSwitch, IsRefusedWhereSomebodyElseHasAPart) {
    FakeTask& other = host.start(100, 101);
    const auto far = open(counting(), {.pid = 101});
    const auto bound = open(counting(), {.cpu = 0});
    const auto inherited = open(counting(0, flag("inherit")));
    fork(me, 300);
    const auto made = open(software(FakeSoftwarePmu::kHappens));
    const auto leader = open(counting());
    open_sibling(software(FakeSoftwarePmu::kHappens), leader);
    for (const EventIndex event : {far, bound, inherited, made, leader}) {
        EXPECT_FALSE(disable_own(event)) << event;
        EXPECT_FALSE(reset_own(self, event, false)) << event;
        EXPECT_EQ(page(event).own, EventState::inactive) << event;
    }
    EXPECT_EQ(page(far).thread_page, other.name.thread_page);
}

TEST_F(OwnSwitch, IsRefusedWhileCountersAreScarce) {
    const auto before = open(counting());
    cpu.counters = 0b1;
    const auto scarce = open(counting());
    EXPECT_FALSE(disable_own(scarce));
    EXPECT_FALSE(disable_own(before)) << "which now may be in another's way, or an exclusive one in its";
    subsystem.close(scarce);
    EXPECT_TRUE(disable_own(before));
}

TEST_F(OwnSwitch, IsRefusedOnceTheEventHasEnded) {
    const auto event = open(counting(0, flag("remove_on_exec")));
    subsystem.task_exec(me.name, me.name);
    EXPECT_FALSE(enable_own(event));
    EXPECT_FALSE(reset_own(self, event, false));
}

TEST_F(OwnSwitch, NoLockIsLeftBehind) {
    const auto leader = open(counting());
    const auto sibling = open_sibling(counting(), leader);
    disable_own(leader, true);
    subsystem.close(leader);
    EXPECT_TRUE(enable_own(sibling));
    EXPECT_EQ(page(sibling).group.holder, 0);
    EXPECT_EQ(page(sibling).lock.holder, 0);
}

/// One of two worlds in which the same happens.
class World : public OwnSwitch {
  public:
    void TestBody() override {}

    std::optional<EventIndex> if_it_leads(std::size_t which) {
        return page(events[which]).leader == events[which] ? std::optional{events[which]} : std::nullopt;
    }

    void open_one(std::optional<EventIndex> leader, std::uint64_t flags, bool samples) {
        Attr attr = with_format(counting(0, flags), kTimes);
        if (samples) attr = with_period(attr, 1000);
        events.push_back(open(attr, {.group = leader}));
    }
    void change(std::size_t which, int what, bool group, bool by_itself) {
        const EventIndex event = events[which];
        const bool done = by_itself && (what == 0   ? enable_own(event, group)
                                        : what == 1 ? disable_own(event, group)
                                                    : reset_own(self, event, group));
        if (done) return;
        const std::uint64_t word = group ? 1 : 0;
        what == 0 ? enable(event, word) : what == 1 ? disable(event, word) : reset(event, word);
    }
    std::vector<std::uint64_t> state(EventIndex event) {
        auto all = read(event);
        all.push_back(static_cast<std::uint64_t>(page(event).state));
        all.push_back(static_cast<std::uint64_t>(page(event).own));
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

class OwnSwitchRandomly : public testing::TestWithParam<int> {};

TEST_P(OwnSwitchRandomly, IsTheSubsystemsSwitch) {
    std::mt19937 random{static_cast<std::mt19937::result_type>(GetParam())};
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    World asked;
    World own;
    for (int step = 0; step < 400; ++step) {
        const std::size_t events = asked.events.size();
        const std::size_t what = below(12);
        if (events == 0 || (what == 0 && events < 12)) {
            const std::uint64_t flags = below(2) == 0 ? kDisabled : 0;
            const bool samples = below(4) == 0;
            const bool joins = events != 0 && below(2) == 0;
            const std::size_t leader = events == 0 ? 0 : below(events);
            for (World* world : {&asked, &own}) {
                world->open_one(joins ? world->if_it_leads(leader) : std::nullopt, flags, samples);
            }
        } else if (what == 1) {
            const std::size_t which = below(events);
            for (World* world : {&asked, &own}) world->close_one(which);
        } else if (what < 4) {
            const std::size_t count = below(100);
            for (World* world : {&asked, &own}) world->run(count);
        } else {
            const std::size_t which = below(events);
            const int change = static_cast<int>(below(3));
            const bool group = below(3) == 0;
            asked.change(which, change, group, false);
            own.change(which, change, group, below(4) != 0);
        }
        for (std::size_t i = 0; i < asked.events.size(); ++i)
            ASSERT_EQ(own.state(own.events[i]), asked.state(asked.events[i])) << "step " << step << ", event " << i;
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, OwnSwitchRandomly, testing::Range(0, 12));

}  // namespace
}  // namespace anyperf::subsystem
