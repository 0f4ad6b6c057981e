// targets_test.cpp: which tasks each kind of target counts. The oracle is a known number of calls of a system call that
// only these tests make.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "conformance/counting/workload.h"
#include "host/process/cgroups.h"

namespace anyperf::counting {
namespace {

#define SKIP_WITHOUT_TRACEPOINTS \
    if (const auto why = no_tracepoints(); !why.empty()) GTEST_SKIP() << why

/// Opens the rare call's event, runs `work` while it is enabled, and returns the total.
std::uint64_t counted(const Target& target, OpenOptions options, const std::function<void()>& work) {
    auto set = open_set(kRareCall, target, options);
    EXPECT_TRUE(set) << set.error().what << ": " << set.error().cause;
    if (!set) return 0;
    EXPECT_TRUE(set->enable());
    work();
    EXPECT_TRUE(set->disable());
    EXPECT_TRUE(set->read());
    return set->total(0).raw;
}

void in_threads(int threads, const std::function<void()>& work) {
    std::vector<std::jthread> running;
    running.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) running.emplace_back(work);
}

// Covers: arguments.pid_0_cpu_any "measures the calling process/thread on any CPU"
TEST(Self, CountsOnlyTheCallingThread) {
    SKIP_WITHOUT_TRACEPOINTS;
    EXPECT_EQ(counted(Target::self(), {},
                      [] {
                          rare_calls(7);
                          in_threads(2, [] { rare_calls(100); });
                          run_child([] { rare_calls(1000); });
                      }),
              7);
}

// Covers: attr.inherit "this counter should count events of child tasks as well as the task specified"
TEST(Inherit, CountsThreadsAndTheirThreads) {
    SKIP_WITHOUT_TRACEPOINTS;
    EXPECT_EQ(counted(Target::self(), {.inherit = true},
                      [] {
                          in_threads(3, [] {
                              rare_calls(10);
                              in_threads(2, [] { rare_calls(5); });
                          });
                      }),
              3 * (10 + 2 * 5));
}

// Covers: attr.inherit "this counter should count events of child tasks as well as the task specified"
TEST(Inherit, CountsChildrenAndTheirChildren) {
    SKIP_WITHOUT_TRACEPOINTS;
    EXPECT_EQ(counted(Target::self(), {.inherit = true},
                      [] {
                          run_child([] {
                              rare_calls(3);
                              run_child([] { rare_calls(20); });
                          });
                          rare_calls(1);
                      }),
              24);
}

// Covers: attr.inherit "applies only to new children, not to any existing children at the time the counter is created"
TEST(Inherit, DoesNotCountExistingChildren) {
    SKIP_WITHOUT_TRACEPOINTS;
    Child before{[] { rare_calls(50); }};
    EXPECT_EQ(counted(Target::self(), {.inherit = true},
                      [&] {
                          before.go();
                          before.finish();
                          run_child([] { rare_calls(2); });
                      }),
              2);
}

// Covers: attr.enable_on_exec "a counter is automatically enabled after a call to exec"
TEST(StartOnExec, CountsOnlyAfterTheExec) {
    SKIP_WITHOUT_TRACEPOINTS;
    Child child{[] {
        rare_calls(30);
        ::execl("/bin/true", "true", nullptr);
    }};
    auto set = open_set(std::string{"{"} + kRareCall + ",syscalls:sys_enter_exit_group}", Target::thread(child.pid()),
                        {.start = Start::on_exec, .inherit = true});
    ASSERT_TRUE(set) << set.error().cause;
    child.go();
    child.finish();
    ASSERT_TRUE(set->read());
    EXPECT_EQ(set->total(0).raw, 0);
    EXPECT_EQ(set->total(1).raw, 1);
}

// Covers: arguments.pid_tid "measures the specified process/thread on any CPU"
TEST(Process, CountsAllItsThreads) {
    SKIP_WITHOUT_TRACEPOINTS;
    std::atomic<int> waiting = 0;
    std::atomic<bool> go = false;
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            ++waiting;
            waiting.notify_all();
            go.wait(false);
            rare_calls(25);
            in_threads(1, [] { rare_calls(5); });
        });
    while (waiting < 4) waiting.wait(waiting);
    EXPECT_EQ(counted(Target::process(::getpid()), {.inherit = true},
                      [&] {
                          go = true;
                          go.notify_all();
                          threads.clear();
                      }),
              4 * (25 + 5));
}

/// Shared with a child that creates threads all the time; each makes rare calls if `counting` is set.
struct Storm {
    std::atomic<bool> over = false;
    std::atomic<bool> counting = false;
    std::atomic<int> busy = 0;
    std::atomic<std::uint64_t> calls = 0;
    std::atomic<int> threads = 0;  ///< that have called call()

    void call() {
        ++threads;
        ++busy;
        if (counting) {
            rare_calls(3);
            calls += 3;
        }
        --busy;
    }
};

// Covers: arguments.pid_tid "measures the specified process/thread on any CPU"
TEST(Process, CountsThreadsCreatedDuringTheOpen) {
    SKIP_WITHOUT_TRACEPOINTS;
    void* shared = ::mmap(nullptr, sizeof(Storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* storm = new (shared) Storm;
    Child child{[=] {
        std::vector<std::jthread> steady;
        steady.reserve(3);
        for (int i = 0; i < 3; ++i)
            steady.emplace_back([=] {
                while (!storm->over) {
                    in_threads(1, [=] { storm->call(); });
                    std::this_thread::sleep_for(std::chrono::microseconds(300));
                }
            });
    }};
    child.go();
    while (storm->threads < 10) std::this_thread::yield();
    const auto total = counted(Target::process(child.pid()), {.inherit = true}, [=] {
        storm->counting = true;
        while (storm->calls < 90) std::this_thread::yield();
        storm->counting = false;
        while (storm->busy != 0) std::this_thread::yield();
    });
    storm->over = true;
    child.finish();
    EXPECT_EQ(total, storm->calls);
    ::munmap(shared, sizeof(Storm));
}

// Covers: arguments.pid_cpu "measures the specified process/thread only when running on the specified CPU"
TEST(TaskOnEachCpu, CountsEachCallOnce) {
    SKIP_WITHOUT_TRACEPOINTS;
    Target target = Target::self();
    target.cpus = system_kernel().online_cpus();
    EXPECT_EQ(counted(target, {},
                      [] {
                          for (int i = 0; i < 20; ++i) {
                              rare_calls(5);
                              std::this_thread::sleep_for(std::chrono::microseconds(100));
                          }
                      }),
              100);
}

// Covers: arguments.pid_any_cpu "measures all processes/threads on the specified CPU"
TEST(System, CountsAllTasksOnAllCpus) {
    SKIP_WITHOUT_TRACEPOINTS;
    EXPECT_EQ(counted(Target::system(), {},
                      [] {
                          rare_calls(4);
                          run_child([] { rare_calls(6); });
                          in_threads(2, [] { rare_calls(10); });
                      }),
              4 + 6 + 20);
}

// Covers: arguments.pid_any_cpu "measures all processes/threads on the specified CPU"
TEST(Cpu, CountsOnlyTasksThatRunOnIt) {
    SKIP_WITHOUT_TRACEPOINTS;
    const auto cpus = system_kernel().online_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "this machine has one CPU";
    const auto calls_on = [](int cpu, int times) {
        run_child([=] {
            cpu_set_t only;
            CPU_ZERO(&only);
            CPU_SET(static_cast<std::size_t>(cpu), &only);
            ::sched_setaffinity(0, sizeof only, &only);
            rare_calls(times);
        });
    };
    EXPECT_EQ(counted(Target::on_cpus({cpus[1]}), {},
                      [&] {
                          calls_on(cpus[0], 100);
                          calls_on(cpus[1], 11);
                      }),
              11);
}

// Covers: flags.PERF_FLAG_PID_CGROUP "an event is measured only if the thread running on the monitored CPU belongs to
// the designated container (cgroup)"
TEST(Cgroup, CountsOnlyItsTasks) {
    SKIP_WITHOUT_TRACEPOINTS;
    const auto top = host::cgroup_directory(host::Root{}, "/");
    if (!top) GTEST_SKIP() << top.error().cause;
    const std::filesystem::path directory = *top + "/anyperf-test-" + std::to_string(::getpid());
    std::error_code error;
    if (!std::filesystem::create_directory(directory, error))
        GTEST_SKIP() << "can't create a cgroup: " << error.message();
    Child inside{[] { rare_calls(17); }};
    std::ofstream{directory / "cgroup.procs"} << inside.pid();
    const auto total = counted(Target::cgroup(directory), {}, [&] {
        inside.go();
        inside.finish();
        rare_calls(1000);
    });
    std::filesystem::remove(directory, error);
    EXPECT_EQ(total, 17);
}

}  // namespace
}  // namespace anyperf::counting
