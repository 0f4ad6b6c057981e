// hardware_count.cpp: counts of hardware events, compared with a loop (suite/loop.S) whose instructions and branches
// are known exactly: single events, groups, inherit, exec, CPUs and rdpmc.
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// The event's count of the loop and of the ioctls around it. An interrupt may add to a PMU's count, but never
/// subtracts from it, so this is the minimum of eight runs.
std::uint64_t count_loop(const Event& event, std::uint64_t times) {
    std::uint64_t least = ~0ULL;
    for (int i = 0; i < 8; ++i) {
        event.reset();
        event.enable();
        conformance_loop(times);
        event.disable();
        least = std::min(least, event.count());
    }
    return least;
}

/// The count of `times` rounds of the loop, without the ioctls around it.
std::uint64_t count_rounds(const Event& event, std::uint64_t times) {
    return count_loop(event, 1000 + times) - count_loop(event, 1000);
}

void exact(std::uint64_t config, std::uint64_t per_round) {
    const Event event{hardware(config)};
    want_equal("count of 10000 rounds", count_rounds(event, 10'000), 10'000 * per_round);
    want_equal("count of one round", count_rounds(event, 1), per_round);
}

void cycles_increase() {
    const Event event{hardware(PERF_COUNT_HW_CPU_CYCLES)};
    const std::uint64_t few = count_loop(event, 1000);
    const std::uint64_t many = count_loop(event, 1'000'000);
    want_at_least("cycles of a thousand rounds", few, 100U);
    want_at_least("cycles of a million", many, 100 * few);
}

void repeatable() {
    const Event event{instructions()};
    want_equal("count of the same loop again", count_loop(event, 5000), count_loop(event, 5000));
}

void nothing_while_disabled() {
    const Event event{instructions()};
    event.enable();
    conformance_loop(10);
    event.disable();
    const std::uint64_t before = event.count();
    conformance_loop(10'000);
    want_equal("count", event.count(), before);
}

void excluded_user() {
    const Event event{changed(instructions(), [](Attr& a) {
        a.exclude_user = 1;
        a.exclude_kernel = 0;
    })};
    want_at_most("instructions in user mode", count_rounds(event, 1'000'000), 100'000U);
}

void raw_equals_generic() {
    const std::string text = read_text("/sys/bus/event_source/devices/cpu/events/instructions");
    const auto at = text.find("event=");
    if (at == std::string::npos) throw Skip{"sysfs does not describe the event instructions"};
    Attr raw = instructions();
    raw.type = PERF_TYPE_RAW;
    raw.config = std::stoul(text.substr(at + 6), nullptr, 0);
    raw.disabled = 0;
    const Event leader{changed(instructions(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; })};
    const Event member = sibling(raw, leader);
    leader.enable();
    conformance_loop(10'000);
    leader.disable();
    const auto words = leader.words();
    want_equal("nr", words.at(0), 2U);
    want_equal("raw and generic", words.at(2), words.at(1));
}

void group_of_two() {
    const Attr branches = changed(hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS), [](Attr& a) { a.disabled = 0; });
    const Event leader{changed(instructions(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; })};
    const Event member = sibling(branches, leader);
    std::array<std::uint64_t, 2> least{~0ULL, ~0ULL};
    std::array<std::uint64_t, 2> more{~0ULL, ~0ULL};
    for (int i = 0; i < 16; ++i) {
        const std::uint64_t times = i % 2 == 0 ? 1000 : 6000;  // chosen before the event is enabled
        leader.reset(PERF_IOC_FLAG_GROUP);
        leader.enable();
        conformance_loop(times);
        leader.disable();
        const auto words = leader.words();
        auto& minimum = i % 2 == 0 ? least : more;
        minimum = {std::min(minimum[0], words.at(1)), std::min(minimum[1], words.at(2))};
    }
    want_equal("instructions of 5000 rounds", more[0] - least[0], 10'000U);
    want_equal("branches of 5000 rounds", more[1] - least[1], 5'000U);
}

void mixed_group() {
    Faults faults;
    const Event leader{changed(page_faults(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; })};
    const Event member = sibling(changed(instructions(), [](Attr& a) { a.disabled = 0; }), leader);
    leader.enable();
    conformance_loop(10'000);
    faults.cause(3);
    leader.disable();
    const auto words = leader.words();
    want_at_least("faults of the software leader", words.at(1), 3U);
    want_at_least("instructions of the hardware sibling", words.at(2), 20'001U);
    want_at_most("instructions of the hardware sibling", words.at(2), 60'000U);
}

void times_of_single_event() {
    const Event event{changed(instructions(), [](Attr& a) {
        a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    })};
    event.enable();
    conformance_loop(1'000'000);
    event.disable();
    const auto words = event.words();
    want_at_least("enabled", words[1], 1U);
    want_equal("running of a single event", words[2], words[1]);
}

void inherited() {
    const Event event{changed(instructions(), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    const auto sum = [&](std::uint64_t times) {
        std::uint64_t least = ~0ULL;
        for (int i = 0; i < 5; ++i) {
            const std::uint64_t before = event.count();
            in_child([&] { conformance_loop(times); });
            least = std::min(least, event.count() - before);
        }
        return least;
    };
    const std::uint64_t few = sum(1000);
    const std::uint64_t many = sum(1'001'000);
    want_at_least("instructions of a child's million rounds", many - few, 1'990'000U);
    want_at_most("instructions of a child's million rounds", many - few, 2'010'000U);
}

void another_process() {
    Child child{{[] { conformance_loop(10); }, [] { conformance_loop(500'000); }}};
    const Event event{instructions(), child.pid()};
    child.step();
    event.enable();
    child.step();
    event.disable();
    want_at_least("instructions", event.count(), 1'000'000U);
    want_at_most("instructions", event.count(), 1'100'000U);
}

void another_thread() {
    const Event event{instructions()};
    event.enable();
    const std::uint64_t before = event.count();
    in_thread([] { conformance_loop(10'000'000); });
    want_at_most("instructions of another thread", event.count() - before, 5'000'000U);
}

void enabled_on_exec() {
    Child child{{[] { exec_helper({"loop", "3000000"}); }}};
    const Event event{changed(instructions(), [](Attr& a) { a.enable_on_exec = 1; }), child.pid()};
    child.last_step();
    child.join();
    want_at_least("instructions of the new program", event.count(), 6'000'000U);
    want_at_most("instructions of the new program", event.count(), 9'000'000U);
}

void bound_to_cpus() {
    std::vector<Event> events;
    events.reserve(allowed_cpus().size());
    for (const int cpu : allowed_cpus())
        events.emplace_back(changed(instructions(), [](Attr& a) { a.disabled = 0; }), 0, cpu);
    const auto sum = [&] {
        std::uint64_t all = 0;
        for (const Event& event : events) all += event.count();
        return all;
    };
    const std::uint64_t before = sum();
    conformance_loop(1'000'000);
    const std::uint64_t more = sum() - before;
    want_at_least("sum over the CPUs", more, 2'000'001U);
    want_at_most("sum over the CPUs", more, 2'100'000U);
}

void cpu_wide() {
    const int cpu = pin_to(0);
    const Event event{changed(instructions(), [](Attr& a) { a.disabled = 0; }), -1, cpu};
    const std::uint64_t before = event.count();
    in_child([] { conformance_loop(1'000'000); });
    want_at_least("instructions of a child on the CPU", event.count() - before, 2'000'001U);
}

void loads() {
    const Event event{changed(instructions(), [](Attr& a) {
        a.type = PERF_TYPE_HW_CACHE;
        a.config = PERF_COUNT_HW_CACHE_L1D;
    })};
    static volatile std::uint64_t word = 1;
    const auto counted = [&](int times) {
        std::uint64_t least = ~0ULL;
        for (int i = 0; i < 8; ++i) {
            event.reset();
            event.enable();
            load(word, times);
            event.disable();
            least = std::min(least, event.count());
        }
        return least;
    };
    const std::uint64_t more = counted(11'000) - counted(1000);
    want_at_least("reads of the first cache level", more, 10'000U);
    want_at_most("reads of the first cache level", more, 10'100U);
}

std::uint64_t rdpmc(std::uint32_t counter) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
    return std::uint64_t{high} << 32 | low;
}

/// Reads the count as perf_event_open(2) describes for cap_user_rdpmc; skips the case if the page does not allow that.
std::uint64_t rdpmc_count(const perf_event_mmap_page& page) {
    while (true) {
        const std::uint32_t lock = __atomic_load_n(&page.lock, __ATOMIC_ACQUIRE);
        const std::uint32_t index = page.index;
        std::int64_t value = page.offset;
        if (page.cap_user_rdpmc == 0 || index == 0) throw Skip{"the page does not offer rdpmc, which is optional"};
        auto counter = static_cast<std::int64_t>(rdpmc(index - 1) << (64 - page.pmc_width));
        value += counter >> (64 - page.pmc_width);
        if (__atomic_load_n(&page.lock, __ATOMIC_ACQUIRE) == lock) return static_cast<std::uint64_t>(value);
    }
}

void read_by_rdpmc() {
    const Event event{instructions()};
    const Ring page{event, 0};
    event.enable();
    conformance_loop(1000);
    const std::uint64_t before = event.count();
    const std::uint64_t by_page = rdpmc_count(page.page());
    const std::uint64_t after = event.count();
    want_at_least("by rdpmc", by_page, before);
    want_at_most("by rdpmc", by_page, after);
}

/// The page says what rdpmc adds: with the event off, nothing; after a reset, from 0.
void rdpmc_follows_changes() {
    const Event event{instructions()};
    const Ring page{event, 0};
    event.enable();
    conformance_loop(1000);
    (void)rdpmc_count(page.page());
    event.disable();
    want_equal("index of an event that is off", page.page().index, 0U);
    event.reset();
    event.enable();
    conformance_loop(1000);
    const std::uint64_t by_page = rdpmc_count(page.page());
    want_at_least("by rdpmc after a reset", by_page, 2000U);
    want_at_most("by rdpmc after a reset", by_page, event.count());
}

/// Instructions by rdpmc from before the loop to after it.
std::uint64_t loop_by_rdpmc(const perf_event_mmap_page& page, std::uint64_t times) {
    const std::uint64_t before = rdpmc_count(page);
    conformance_loop(times);
    return rdpmc_count(page) - before;
}

void rdpmc_counts_exactly() {
    const Event event{instructions()};
    const Event branches{hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS)};
    const Event cycles{hardware(PERF_COUNT_HW_CPU_CYCLES)};
    const Ring page{event, 0};
    const Ring page_of_branches{branches, 0};
    const Ring page_of_cycles{cycles, 0};
    for (const Event* each : {&event, &branches, &cycles}) each->enable();
    for (int round = 0; round < 4; ++round) {
        (void)loop_by_rdpmc(page.page(), 10);
        const std::uint64_t fewer = loop_by_rdpmc(page.page(), 1000);
        want_equal("instructions of 500 more rounds", loop_by_rdpmc(page.page(), 1500) - fewer, 1000U);
        (void)loop_by_rdpmc(page_of_branches.page(), 10);
        const std::uint64_t fewer_branches = loop_by_rdpmc(page_of_branches.page(), 1000);
        want_equal("branches of 500 more rounds", loop_by_rdpmc(page_of_branches.page(), 1500) - fewer_branches, 500U);
        want_at_least("cycles", loop_by_rdpmc(page_of_cycles.page(), 1000), 100U);
    }
    for (const auto& [each, its_page] : {std::pair{&event, &page}, {&branches, &page_of_branches}}) {
        const std::uint64_t before = each->count();
        const std::uint64_t by_page = rdpmc_count(its_page->page());
        want_at_least("by rdpmc", by_page, before);
        want_at_most("by rdpmc", by_page, each->count());
    }
}

/// Jumps over the store of 8 bytes that has faulted.
void skip_store(int, siginfo_t*, void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 8;
}

/// What a fault leaves of the instructions that were counted in advance.
void rdpmc_after_faults() {
    const Event event{instructions()};
    const Ring page{event, 0};
    struct sigaction action{};
    struct sigaction former{};
    action.sa_sigaction = skip_store;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &former);
    event.enable();
    (void)rdpmc_count(page.page());
    for (int i = 0; i < 100; ++i) asm volatile("inc %%rax; movb $0, 0; inc %%rax" ::: "rax", "cc", "memory");
    const std::uint64_t before = event.count();
    const std::uint64_t by_page = rdpmc_count(page.page());
    want_at_least("by rdpmc", by_page, before);
    want_at_most("by rdpmc", by_page, event.count());
    sigaction(SIGSEGV, &former, nullptr);
}

/// The status flags after rdpmc of this counter, if they were `flags` before it.
std::uint64_t flags_after_rdpmc(std::uint32_t counter, std::uint64_t flags) {
    // The compiler may keep values below the stack pointer.
    asm volatile("lea -128(%%rsp), %%rsp; push %0; popfq; rdpmc; pushfq; pop %0; lea 128(%%rsp), %%rsp"
                 : "+r"(flags)
                 : "c"(counter)
                 : "rax", "rdx", "cc", "memory");
    return flags;
}

void rdpmc_keeps_flags() {
    constexpr std::uint64_t kStatus[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800};
    const Event event{instructions()};
    const Ring page{event, 0};
    event.enable();
    (void)rdpmc_count(page.page());
    for (unsigned set = 0; set < 64; ++set) {
        std::uint64_t flags = 0x202;
        for (unsigned i = 0; i < 6; ++i) flags |= (set >> i & 1) != 0 ? kStatus[i] : 0;
        for (int round = 0; round < 3; ++round)
            want_equal("flags after rdpmc", flags_after_rdpmc(page.page().index - 1, flags), flags);
    }
}

/// Whether the code raises SIGSEGV.
template <class Code>
bool raises_segv(const Code& code) {
    struct sigaction action{};
    struct sigaction former{};
    static sigjmp_buf back;
    action.sa_handler = [](int) { siglongjmp(back, 1); };
    sigaction(SIGSEGV, &action, &former);
    const bool raised = sigsetjmp(back, 1) != 0;
    if (!raised) code();
    sigaction(SIGSEGV, &former, nullptr);
    return raised;
}

void rdpmc_needs_a_mapping() {
    const int status = in_child([] {
        const Event event{instructions()};
        std::optional<Ring> page{std::in_place, event, 0};
        event.enable();
        for (int i = 0; i < 3; ++i) (void)rdpmc_count(page->page());
        const std::uint32_t index = page->page().index;
        page.reset();
        (void)rdpmc(index - 1);
    });
    want("the thread gets SIGSEGV", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

constexpr const char* kRdpmcFile = "/sys/devices/cpu/rdpmc";

/// Gives the PMU's file rdpmc another value; the destructor restores it.
class RdpmcSetting {
  public:
    explicit RdpmcSetting(const std::string& value) : before_(read_text(kRdpmcFile)) {
        want_equal("write of " + value, write_to(kRdpmcFile, value), 0);
    }
    RdpmcSetting(const RdpmcSetting&) = delete;
    RdpmcSetting& operator=(const RdpmcSetting&) = delete;
    ~RdpmcSetting() { write_to(kRdpmcFile, before_); }

  private:
    std::string before_;
};

void rdpmc_never() {
    const Event early{instructions()};
    const Ring early_page{early, 0};
    early.enable();
    for (int i = 0; i < 3; ++i) (void)rdpmc_count(early_page.page());
    const RdpmcSetting never{"0\n"};
    want("the counter of an event that was mapped before raises SIGSEGV",
         raises_segv([&] { (void)rdpmc(early_page.page().index - 1); }));
    const Event late{instructions()};
    const Ring late_page{late, 0};
    late.enable();
    want_equal("cap_user_rdpmc of a new event", std::uint64_t{late_page.page().cap_user_rdpmc}, 0U);
    want_equal("index of a new event", late_page.page().index, 0U);
    const RdpmcSetting mapped{"1"};
    want_at_least("the first event's counter", rdpmc_count(early_page.page()), 1U);
    want_equal("cap_user_rdpmc of the other one", std::uint64_t{late_page.page().cap_user_rdpmc}, 0U);
}

void rdpmc_always() {
    want("rdpmc of counter 0 raises SIGSEGV without an event", raises_segv([] { (void)rdpmc(0); }));
    const RdpmcSetting always{"0x2\n"};
    want_equal("the file", read_number(kRdpmcFile).value_or(-1), 2);
    want("with 2 it does not", !raises_segv([] { (void)rdpmc(0); }));
    const Event event{instructions()};
    std::optional<Ring> page{std::in_place, event, 0};
    event.enable();
    const std::uint32_t index = page->page().index;
    page.reset();
    conformance_loop(1000);
    want("the counter of an event that is not mapped can be read", !raises_segv([&] { (void)rdpmc(index - 1); }));
}

void rdpmc_file_values() {
    const std::string before = read_text(kRdpmcFile);
    for (const char* bad : {"3", "-1", "x", "1 1", "99999999999"})
        want_equal(std::string{"write of "} + bad, write_to(kRdpmcFile, bad), -EINVAL);
    want_equal("the file", read_text(kRdpmcFile), before);
}

void rdpmc_faults() {
    constexpr std::uint32_t kNone = 0x3fffffff;
    const int status = in_child([] { (void)rdpmc(kNone); });
    want("the thread gets SIGSEGV", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

}  // namespace

std::vector<Case> hardware_count_cases() {
    return {
        {"instructions", "instructions of a loop are counted exactly", kHardware,
         [] { exact(PERF_COUNT_HW_INSTRUCTIONS, 2); }},
        {"branches", "branches of a loop are counted exactly", kHardware,
         [] { exact(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1); }},
        {"cycles", "cycles increase with work", kHardware, cycles_increase},
        {"again", "two runs of the same loop have the same count", kHardware, repeatable},
        {"disabled", "a disabled event counts nothing", kHardware, nothing_while_disabled},
        {"exclude_user", "with exclude_user instructions in user mode do not count", kHardware | kKernelSide,
         excluded_user},
        {"raw", "PERF_TYPE_RAW with the event code from sysfs has the same count as the generic event", kHardware,
         raw_equals_generic},
        {"group", "all members of a group count the same loop", kHardware, group_of_two},
        {"mixed_group", "a hardware event counts in the group of a software leader", kHardware, mixed_group},
        {"times", "a single event's running time equals its enabled time", kHardware, times_of_single_event},
        {"inherit", "inherit adds the instructions of children", kHardware, inherited},
        {"process", "an event on another process counts its instructions", kHardware, another_process},
        {"thread", "pid 0 counts only the calling thread", kHardware, another_thread},
        {"exec", "enable_on_exec counts the instructions of the new program", kHardware, enabled_on_exec},
        {"cpus", "events on all CPUs together count the thread's instructions", kHardware, bound_to_cpus},
        {"cpu_wide", "a CPU-wide event counts other processes", kHardware | kRoot, cpu_wide},
        {"loads", "L1-dcache-loads counts the loads of a loop", kHardware, loads},
        {"rdpmc.changes",
         "if the page offers rdpmc, it has no index while the event is off, and counts from 0 after a reset", kHardware,
         rdpmc_follows_changes},
        {"rdpmc.exact", "by rdpmc a loop has exactly its instructions and branches, each time", kHardware,
         rdpmc_counts_exactly},
        {"rdpmc.after_faults", "rdpmc agrees with read(2) after instructions that faulted", kHardware,
         rdpmc_after_faults},
        {"rdpmc.flags", "rdpmc changes no status flag", kHardware, rdpmc_keeps_flags},
        {"rdpmc.unmapped", "rdpmc raises SIGSEGV once the process has no event mapped", kHardware,
         rdpmc_needs_a_mapping},
        {"rdpmc.never", "with 0 in the PMU's file rdpmc, rdpmc raises SIGSEGV, and pages of new events do not offer it",
         kHardware | kRoot | kSysctl, rdpmc_never},
        {"rdpmc.always", "with 2 in that file, rdpmc reads counters without a mapped event",
         kHardware | kRoot | kSysctl, rdpmc_always},
        {"rdpmc.values", "the file takes 0, 1 and 2; anything else is EINVAL", kHardware | kRoot | kSysctl,
         rdpmc_file_values},
        {"rdpmc.fault", "rdpmc of a counter that does not exist raises SIGSEGV", kHardware, rdpmc_faults},
        {"rdpmc", "if the page offers rdpmc, its value agrees with read(2)", kHardware, read_by_rdpmc},
    };
}

}  // namespace conformance
