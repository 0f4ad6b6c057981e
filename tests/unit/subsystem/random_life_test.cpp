// random_life_test.cpp: tasks and events at random, compared with a model that is too simple to be wrong: an event
// covers a set of tasks, and counts what they do while it is enabled and they are on its CPU.
#include <random>

#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

class RandomLife : public SubsystemTest, public testing::WithParamInterface<int> {
  protected:
    struct Model {
        EventIndex event;
        bool inherit = false;
        bool cpu_wide = false;
        bool enabled = true;
        std::int32_t cpu = -1;
        std::set<std::uint32_t> covers = {};  ///< thread pages of the tasks
        std::uint64_t count = 0;
    };

    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); }

    void open_one() {
        FakeTask& task = *alive[below(alive.size())];
        Model model{.event = 0, .inherit = below(2) == 0, .cpu_wide = below(4) == 0, .enabled = below(3) != 0};
        model.cpu = model.cpu_wide || below(2) == 0 ? static_cast<std::int32_t>(below(2)) : -1;
        const Attr attr = counting(0, (model.inherit ? flag("inherit") : 0) | (model.enabled ? 0 : kDisabled));
        model.event = open(attr, {.pid = model.cpu_wide ? -1 : task.name.tid, .cpu = model.cpu});
        if (!model.cpu_wide) model.covers.insert(task.name.thread_page);
        models.push_back(model);
    }
    void fork_one() {
        FakeTask& parent = *alive[below(alive.size())];
        alive.push_back(&fork(parent, next_tid++));
        for (Model& model : models)
            if (model.inherit && model.covers.contains(parent.name.thread_page))
                model.covers.insert(alive.back()->name.thread_page);
    }
    void exit_one() {
        if (alive.size() < 2) return;
        const std::size_t chosen = below(alive.size());
        exit(*alive[chosen]);
        alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    void run_one() {
        FakeTask& task = *alive[below(alive.size())];
        const std::uint64_t counted = below(1000);
        task.run(10, counted);
        for (Model& model : models) {
            const bool there = model.cpu < 0 || model.cpu == task.cpu;
            if (model.enabled && there && (model.cpu_wide || model.covers.contains(task.name.thread_page)))
                model.count += counted;
        }
    }
    void toggle_one() {
        if (models.empty()) return;
        Model& model = models[below(models.size())];
        model.enabled = !model.enabled;
        model.enabled ? enable(model.event) : disable(model.event);
    }
    void close_one() {
        if (models.empty()) return;
        const std::size_t chosen = below(models.size());
        subsystem.close(models[chosen].event);
        models.erase(models.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    void move_one() { move(*alive[below(alive.size())], static_cast<std::int32_t>(below(2))); }

    void step() {
        switch (below(10)) {
            case 0: return open_one();
            case 1: return fork_one();
            case 2: return exit_one();
            case 3: return toggle_one();
            case 4: return move_one();
            case 5: return below(3) == 0 ? close_one() : subsystem.tick();
            default: return run_one();
        }
    }

    std::mt19937 random{static_cast<std::mt19937::result_type>(GetParam())};
    std::vector<Model> models;
    std::vector<FakeTask*> alive{&me};
    std::int32_t next_tid = 1000;
};

TEST_P(RandomLife, CountsMatchTheModel) {
    host.caller.perfmon = true;
    for (int i = 0; i < 500; ++i) {
        step();
        if (i % 10 != 0) continue;
        for (const Model& model : models) ASSERT_EQ(count(model.event), model.count) << "step " << i;
    }
    while (!models.empty()) close_one();
    EXPECT_EQ(host.pages(), 0);
    EXPECT_TRUE(cpu.held.empty());
    EXPECT_TRUE(cpu.on.empty());
}

TEST_P(RandomLife, FewCountersNeverCountTooMuchAndLeaveNothing) {
    host.caller.perfmon = true;
    cpu.counters = 0b11;
    for (int i = 0; i < 500; ++i) {
        step();
        if (i % 10 != 0) continue;
        for (const Model& model : models) ASSERT_LE(count(model.event), model.count) << "step " << i;
        for (const FakeTask* task : alive) {
            const auto on_it = std::ranges::count_if(
                cpu.on, [&](EventIndex event) { return page(event).thread_page == task->name.thread_page; });
            ASSERT_LE(on_it, 2);
        }
    }
    while (!models.empty()) close_one();
    EXPECT_EQ(host.pages(), 0);
    EXPECT_TRUE(cpu.on.empty());
}

TEST_P(RandomLife, CountersAreWhereTheyWouldBeIfAllGroupsWerePlacedAnew) {
    host.caller.perfmon = true;
    cpu.counters = 0b11;
    for (int i = 0; i < 500; ++i) {
        step();
        FakeTask& task = *alive[below(alive.size())];
        const std::int32_t here = task.cpu;
        const std::set<EventIndex> before = cpu.on;
        move(task, here + 1);
        move(task, here);
        ASSERT_EQ(cpu.on, before) << "step " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLife, testing::Range(0, 12));

}  // namespace
}  // namespace anyperf::subsystem
