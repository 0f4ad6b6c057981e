// events_test.cpp: counts of the counting library on the kernel, compared with workloads whose counts are known
// exactly, and with getrusage(2).
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "anyperf/counter.h"
#include "conformance/counting/workload.h"

namespace anyperf::counting {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses): `counter` is the name of a variable
#define OPEN_OR_FAIL(counter, text)     \
    auto counter = Counter::open(text); \
    ASSERT_TRUE(counter) << counter.error().what << ": " << counter.error().cause
// NOLINTEND(bugprone-macro-parentheses)

std::uint64_t counted(Counter& counter, const std::function<void()>& work) {
    EXPECT_TRUE(counter.reset());
    EXPECT_TRUE(counter.enable());
    work();
    EXPECT_TRUE(counter.disable());
    const auto count = counter.read();
    EXPECT_TRUE(count);
    return count ? count->raw : 0;
}

void touch_new_pages(std::size_t pages) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
    ::munmap(memory, pages * page);
}

// Covers: PERF_COUNT_SW_PAGE_FAULTS "This reports the number of page faults"
TEST(PageFaults, CountFirstTouchesOfPages) {
    OPEN_OR_FAIL(counter, "page-faults:u");
    counted(*counter, [] { touch_new_pages(1); });  // touches the code and the stack of the loop itself
    EXPECT_EQ(counted(*counter, [] { touch_new_pages(500); }), 500);
}

// Covers: PERF_COUNT_SW_PAGE_FAULTS_MIN "did not require disk I/O to handle"
TEST(AnonymousPages, CauseOnlyMinorFaults) {
    OPEN_OR_FAIL(minor, "minor-faults:u");
    OPEN_OR_FAIL(major, "major-faults:u");
    counted(*minor, [] { touch_new_pages(1); });
    EXPECT_EQ(counted(*minor, [] { touch_new_pages(64); }), 64);
    EXPECT_EQ(counted(*major, [] { touch_new_pages(64); }), 0);
}

void ping_pong(int rounds) {
    std::array<int, 2> there{};
    std::array<int, 2> back{};
    ASSERT_EQ(::pipe(there.data()), 0);
    ASSERT_EQ(::pipe(back.data()), 0);
    std::jthread partner([&] {
        char byte = 0;
        for (int i = 0; i < rounds; ++i)
            if (::read(there[0], &byte, 1) != 1 || ::write(back[1], &byte, 1) != 1) return;
    });
    char byte = 'p';
    for (int i = 0; i < rounds; ++i)
        if (::write(there[1], &byte, 1) != 1 || ::read(back[0], &byte, 1) != 1) break;
    partner.join();
    for (const int fd : {there[0], there[1], back[0], back[1]}) ::close(fd);
}

std::uint64_t context_switches() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

// Covers: PERF_COUNT_SW_CONTEXT_SWITCHES "This counts context switches"
TEST(ContextSwitches, MatchGetrusage) {
    if (::geteuid() != 0) GTEST_SKIP() << "context switches happen in kernel mode, which only root may count";
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);  // on one CPU each round needs a context switch
    OPEN_OR_FAIL(counter, "context-switches");
    std::uint64_t inner = 0;
    const std::uint64_t outer_start = context_switches();
    const auto count = counted(*counter, [&] {
        const std::uint64_t start = context_switches();
        ping_pong(200);
        inner = context_switches() - start;
    });
    const std::uint64_t outer = context_switches() - outer_start;
    ::sched_setaffinity(0, sizeof before, &before);
    EXPECT_GE(inner, 200);
    EXPECT_GE(count, inner);
    EXPECT_LE(count, outer);
}

volatile long watched = 0;

// Covers: attr.bp_type "HW_BREAKPOINT_W count when we write the memory location"
/// Whether the kernel counts a store by a watchpoint. Some hypervisors let it set debug registers that never trap.
bool watchpoints_trap() {
    perf_event_attr attr{};
    attr.type = PERF_TYPE_BREAKPOINT;
    attr.size = sizeof attr;
    attr.bp_type = 2;  // HW_BREAKPOINT_W
    attr.bp_addr = reinterpret_cast<std::uintptr_t>(&watched);
    attr.bp_len = sizeof watched;
    attr.exclude_kernel = 1;
    const int fd = static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
    watched = 1;
    std::uint64_t count = 0;
    const bool trapped = fd >= 0 && ::read(fd, &count, sizeof count) == sizeof count && count == 1;
    if (fd >= 0) ::close(fd);
    return trapped;
}

TEST(Breakpoint, CountsStoresToItsAddress) {
    if (!watchpoints_trap()) GTEST_SKIP() << "watchpoints do not count here";
    OPEN_OR_FAIL(counter, "mem:" + std::to_string(reinterpret_cast<std::uintptr_t>(&watched)) + "/8:w:u");
    EXPECT_EQ(counted(*counter,
                      [] {
                          for (int i = 0; i < 123; ++i) watched = i;
                          [[maybe_unused]] const long loaded = watched;
                      }),
              123);
}

// Covers: attr.bp_type "HW_BREAKPOINT_RW count when we read or write the memory location"
TEST(Breakpoint, ReadWriteCountsLoadsAndStores) {
    if (!watchpoints_trap()) GTEST_SKIP() << "watchpoints do not count here";
    OPEN_OR_FAIL(counter, "mem:" + std::to_string(reinterpret_cast<std::uintptr_t>(&watched)) + "/8:rw:u");
    EXPECT_EQ(counted(*counter,
                      [] {
                          watched = 1;
                          for (int i = 0; i < 10; ++i) [[maybe_unused]]
                              const long loaded = watched;
                      }),
              11);
}

extern "C" __attribute__((noinline, used)) void anyperf_probed_function() {
    asm volatile("");
}

/// The offset in its file of the code at `address`, by /proc/self/maps (start-end permissions offset).
std::uint64_t offset_in_file(std::uintptr_t address) {
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields{line};
        std::uintptr_t start = 0;
        std::uintptr_t end = 0;
        std::uint64_t offset = 0;
        char dash = 0;
        std::string permissions;
        fields >> std::hex >> start >> dash >> end >> permissions >> offset;
        if (address >= start && address < end) return address - start + offset;
    }
    return 0;
}

// Covers: attr.config1 "uprobe_path", attr.config2 "probe_offset"
TEST(Uprobe, CountsCallsOfItsFunction) {
    if (::geteuid() != 0) GTEST_SKIP() << "uprobes need CAP_PERFMON";
    const auto type = host::Root{}.read("/sys/bus/event_source/devices/uprobe/type");
    if (!type) GTEST_SKIP() << "this kernel has no uprobe PMU: " << type.error().cause;
    events::Event event;
    event.name = "uprobe";
    event.attr.type = static_cast<std::uint32_t>(std::stoul(*type));
    event.config1_text = std::filesystem::read_symlink("/proc/self/exe").string();
    event.attr.config2 = offset_in_file(reinterpret_cast<std::uintptr_t>(&anyperf_probed_function));
    auto counter = Counter::open(event);
    ASSERT_TRUE(counter) << counter.error().what << ": " << counter.error().cause;
    EXPECT_EQ(counted(*counter,
                      [] {
                          for (int i = 0; i < 77; ++i) anyperf_probed_function();
                      }),
              77);
}

// Covers: tracepoints "sys_enter counts every system call": the ioctl that disables the event is one of them
TEST(Tracepoint, OfAllSystemCallsCountsTheIoctlThatDisablesIt) {
    if (const auto why = no_tracepoints(); !why.empty()) GTEST_SKIP() << why;
    OPEN_OR_FAIL(counter, "raw_syscalls:sys_enter");
    EXPECT_EQ(counted(*counter, [] { rare_calls(40); }), 41);
}

// Covers: groups "the values of the member counters can be meaningfully compared"
TEST(Group, MembersHaveEqualTimesAndCountTheSameWork) {
    const auto groups = events::parse(events::Machine::read(), "{page-faults:u,minor-faults:u,task-clock:u}");
    ASSERT_TRUE(groups);
    auto group = Group::open(groups->front(), {}, {});
    ASSERT_TRUE(group) << group.error().cause;
    ASSERT_TRUE(group->enable());
    touch_new_pages(100);
    std::array<Count, 3> counts;
    ASSERT_TRUE(group->read(counts));
    EXPECT_EQ(counts[0].raw, counts[1].raw);
    EXPECT_EQ(counts[0].running_ns, counts[2].running_ns);
    EXPECT_FALSE(counts[0].scaled);
}

// Covers: ioctl.PERF_EVENT_IOC_RESET "Reset the event count specified by the file descriptor argument to zero"
TEST(Reset, ZeroesTheCountButNotTheTimes) {
    OPEN_OR_FAIL(counter, "page-faults:u");
    ASSERT_TRUE(counter->enable());
    touch_new_pages(10);
    ASSERT_TRUE(counter->disable());
    const auto before = counter->read();
    ASSERT_TRUE(counter->reset());
    const auto after = counter->read();
    EXPECT_GE(before->raw, 10);
    EXPECT_EQ(after->raw, 0);
    EXPECT_EQ(after->enabled_ns, before->enabled_ns);
}

// Covers: mmap_page.cap_user_rdpmc "If the hardware supports user-space read of performance counters without syscall"
TEST(MappedPage, GivesTheSameCountAsRead) {
    OPEN_OR_FAIL(counter, "page-faults:u");
    ASSERT_TRUE(counter->map_page());
    counted(*counter, [] { touch_new_pages(1); });
    EXPECT_EQ(counted(*counter, [] { touch_new_pages(20); }), 20);
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(FailedOpen, LeavesNoDescriptorOpen) {
    const std::size_t before = open_descriptors();
    const auto groups = events::parse(events::Machine::read(), "{page-faults:u,task-clock:u},software/config=0x7fff/u");
    ASSERT_TRUE(groups) << groups.error().cause;
    EXPECT_FALSE(CounterSet::open(*groups, Target::self(), {}));
    EXPECT_FALSE(CounterSet::open(*groups, Target::process(::getpid()), {}));
    EXPECT_FALSE(CounterSet::open(*groups, Target::cgroup("/nonexistent"), {}));
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace anyperf::counting
