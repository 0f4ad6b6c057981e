// names_test.cpp: hardware, software and cache events by the kernel's names, in all spellings, and by raw numbers.
#include "abi/event_ids.h"
#include "events/sources/cache_names.h"
#include "events/sources/kernel_names.h"
#include "events/syntax/text.h"
#include "machines.h"

namespace anyperf::events {
namespace {

struct NameCase {
    std::string_view text;
    std::uint32_t type;
    std::uint64_t config;
};

TEST(KernelNames, HaveTheKernelsNumbersInUpperOrLowerCase) {
    const Machine vm = machine("vm-without-pmu");
    for (const NameCase& row : {
             NameCase{"cycles", 0, 0},
             NameCase{"cpu-cycles", 0, 0},
             NameCase{"CPU-Cycles", 0, 0},
             NameCase{"PERF_COUNT_HW_CPU_CYCLES", 0, 0},
             NameCase{"instructions", 0, 1},
             NameCase{"branches", 0, 4},
             NameCase{"idle-cycles-backend", 0, 8},
             NameCase{"ref-cycles", 0, 9},
             NameCase{"cpu-clock", 1, 0},
             NameCase{"faults", 1, 2},
             NameCase{"cs", 1, 3},
             NameCase{"migrations", 1, 4},
             NameCase{"minor-faults", 1, 5},
             NameCase{"PERF_COUNT_SW_PAGE_FAULTS_MAJ", 1, 6},
             NameCase{"bpf-output", 1, 10},
             NameCase{"cgroup-switches", 1, 11},
             NameCase{"r1c0", 4, 0x1c0},
             NameCase{"r0x1c0", 4, 0x1c0},
             NameCase{"rffffffffffffffff", 4, ~0ull},
             NameCase{"1:2", 1, 2},
             NameCase{"4:0x1c0", 4, 0x1c0},
         }) {
        const Event event = event_of(vm, row.text);
        EXPECT_EQ(event.attr.type, row.type) << row.text;
        EXPECT_EQ(event.attr.config, row.config) << row.text;
        EXPECT_EQ(event.name, row.text);
        EXPECT_EQ(event.attr.size, sizeof(abi::Attr));
    }
}

TEST(KernelNames, AllParseAsEvents) {
    const Machine vm = machine("vm-without-pmu");
    for (const KernelName& row : kKernelNames)
        for (const std::string_view name : {row.name, row.alias.empty() ? row.name : row.alias, row.constant})
            EXPECT_EQ(event_of(vm, name).attr.config, row.config) << name;
}

TEST(CacheNames, AreACacheAnOperationAndAResultInAnyOrder) {
    const Machine vm = machine("vm-without-pmu");
    for (const auto& [text, config] : {
             std::pair{"L1-dcache-loads", 0x0},
             std::pair{"L1-dcache-load-misses", 0x10000},
             std::pair{"L1-dcache-stores", 0x100},
             std::pair{"L1-dcache-store-misses", 0x10100},
             std::pair{"L1-dcache-prefetch-misses", 0x10200},
             std::pair{"L1-dcache-misses", 0x10000},
             std::pair{"L1-dcache-misses-stores", 0x10100},
             std::pair{"L1-dcache", 0x0},
             std::pair{"l1d-read-miss", 0x10000},
             std::pair{"l1d:read:miss", 0x10000},
             std::pair{"l1d:miss:write", 0x10100},
             std::pair{"L1-data-speculative-read-miss", 0x10200},
             std::pair{"L1-icache-load-misses", 0x10001},
             std::pair{"LLC-loads", 0x2},
             std::pair{"llc-store-misses", 0x10102},
             std::pair{"L2-refs", 0x2},
             std::pair{"dTLB-load-misses", 0x10003},
             std::pair{"Data-TLB-stores", 0x103},
             std::pair{"iTLB-load-misses", 0x10004},
             std::pair{"branch-loads", 0x5},
             std::pair{"branch-load-misses", 0x10005},
             std::pair{"bpu-read", 0x5},
             std::pair{"node-prefetches", 0x206},
             std::pair{"PERF_COUNT_HW_CACHE_L1D:READ:MISS", 0x10000},
         }) {
        const Event event = event_of(vm, text);
        EXPECT_EQ(event.attr.type, abi::kTypeHwCache) << text;
        EXPECT_EQ(event.attr.config, config) << text;
    }
}

TEST(CacheNames, BeginWithAnySpellingOfACacheInUpperOrLowerCase) {
    const Machine vm = machine("vm-without-pmu");
    for (const CacheWord& word : kCacheWords)
        for (const std::string_view spelling : word.spellings) {
            if (spelling.empty()) continue;
            for (const std::string& typed : {std::string{spelling}, lower(spelling)})
                EXPECT_EQ(event_of(vm, typed + "-load-misses").attr.config, word.value | 0x10000) << typed;
        }
}

TEST(CacheNames, ThatAreListedAllParse) {
    const Machine vm = machine("vm-without-pmu");
    const auto names = cache_event_names();
    EXPECT_EQ(names.size(), 32);
    for (const std::string& name : names) EXPECT_EQ(event_of(vm, name).attr.type, abi::kTypeHwCache) << name;
}

TEST(CacheNames, OfImpossibleOperationsAreRefusedWithThePossibleOnes) {
    const Error error = error_of(machine("vm-without-pmu"), "iTLB-stores");
    EXPECT_EQ(error.cause, "perf has no event for stores of iTLB");
    EXPECT_EQ(error.fix, "use loads");
    EXPECT_EQ(error.exit_status, 125);
    EXPECT_EQ(error_of(machine("vm-without-pmu"), "L1-icache-stores").fix, "use loads, prefetches");
}

TEST(HybridMachines, OpenOneEventForEachKindOfCore) {
    const Machine hybrid = machine("intel-hybrid");
    const auto events = events_of(hybrid, "cycles:u");
    ASSERT_EQ(events.size(), 2);
    EXPECT_EQ(events[0].name, "cpu_atom/cycles/u");
    EXPECT_EQ(events[0].attr.config, 10ull << 32);
    EXPECT_THAT(events[0].cpus, testing::ElementsAre(4, 5, 6, 7));
    EXPECT_EQ(events[1].name, "cpu_core/cycles/u");
    EXPECT_EQ(events[1].attr.config, 4ull << 32);
    EXPECT_EQ(events[1].source_text, "cycles:u");
    EXPECT_FALSE(events[1].cpu_wide_only);
}

TEST(HybridMachines, GiveRawAndCacheEventsToEachKindOfCore) {
    const Machine arm = machine("arm-big-little");
    const auto raw = events_of(arm, "r11");
    ASSERT_EQ(raw.size(), 2);
    EXPECT_EQ(raw[0].attr.type, 8);
    EXPECT_EQ(raw[1].attr.type, 9);
    EXPECT_EQ(raw[1].attr.config, 0x11);
    const auto cache = events_of(arm, "LLC-loads");
    ASSERT_EQ(cache.size(), 2);
    EXPECT_EQ(cache[1].attr.type, abi::kTypeHwCache);
    EXPECT_EQ(cache[1].attr.config, 0x900000002);
}

TEST(HybridMachines, HaveSoftwareEventsOnce) {
    EXPECT_THAT(names_of(machine("intel-hybrid"), "cs,task-clock"), testing::ElementsAre("cs", "task-clock"));
}

}  // namespace
}  // namespace anyperf::events
