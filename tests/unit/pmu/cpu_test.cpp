// cpu_test.cpp: which events the virtual CPU PMU accepts, how it counts them, and with which errno it refuses the
// others.
#include "pmu/cpu/cpu_pmu.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <set>
#include <utility>

#include "abi/branch_types.h"
#include "pmu/cpu/cpu_events.h"
#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using subsystem::Source;
using testing::asked;
using testing::RefusedWith;

constexpr std::uint64_t kAnyBranch = abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_ANY");

abi::Attr hardware(std::uint64_t config) {
    return {.type = abi::kTypeHardware, .config = config};
}
abi::Attr cache(std::uint64_t cache, std::uint64_t op, std::uint64_t result) {
    return {.type = abi::kTypeHwCache, .config = cache | op << 8 | result << 16};
}
abi::Attr raw(std::uint64_t config) {
    return {.type = abi::kTypeRaw, .config = config};
}

TEST(GenericEvents, OfInstructionsAndBranchesAreExactAndOfCyclesModelled) {
    CpuPmu pmu;
    for (const std::uint64_t config : {1, 4}) {
        const auto wiring = asked(pmu, hardware(config));
        ASSERT_TRUE(wiring) << config;
        EXPECT_EQ(wiring->source.kind, Source::Kind::counters);
        EXPECT_FALSE(wiring->source.modelled);
        EXPECT_EQ(wiring->source.terms, 1);
        EXPECT_EQ(wiring->counters, 0u) << "each has a counter of its own";
        EXPECT_FALSE(wiring->software);
    }
    for (const std::uint64_t config : {0, 6, 7, 8, 9})
        EXPECT_TRUE(asked(pmu, hardware(config))->source.modelled) << config;
}

TEST(GenericEvents, OfCachesAndBranchMissesAreCountedByTheModels) {
    CpuPmu pmu;
    for (const std::uint64_t config : {2, 3, 5}) {
        const auto wiring = asked(pmu, hardware(config));
        ASSERT_TRUE(wiring) << config;
        EXPECT_TRUE(wiring->source.modelled && uses_models(wiring->source)) << config;
    }
}

TEST(GenericEvents, BeyondTheLastAreEinval) {
    CpuPmu pmu;
    EXPECT_THAT(asked(pmu, hardware(10)), RefusedWith(EINVAL));
    EXPECT_THAT(asked(pmu, hardware(0xffff'ffff)), RefusedWith(EINVAL));
}

TEST(GenericEvents, MayNameThisPmuInTheUpperHalfOfConfig) {
    CpuPmu pmu;
    EXPECT_TRUE(asked(pmu, hardware(4ull << 32 | 1)));
    EXPECT_THAT(asked(pmu, hardware(8ull << 32 | 1)), RefusedWith(ENOENT));
}

TEST(CacheEvents, CountAccessesThatAreLoadsStoresOrBranches) {
    EXPECT_EQ(quantity_of(cache(0, 0, 0)), Quantity::loads);
    EXPECT_EQ(quantity_of(cache(0, 1, 0)), Quantity::stores);
    EXPECT_EQ(quantity_of(cache(3, 0, 0)), Quantity::loads);
    EXPECT_EQ(quantity_of(cache(3, 1, 0)), Quantity::stores);
    EXPECT_EQ(quantity_of(cache(5, 0, 0)), Quantity::branches);
}

TEST(LoadLatency, CountsAllLoadsExactlyUnlessAskedForSlowOnes) {
    CpuPmu pmu;
    abi::Attr attr = raw(0x01cd);
    for (const std::uint64_t least : {0, 3}) {
        attr.config1 = least;
        EXPECT_EQ(quantity_of(attr), Quantity::loads) << least;
    }
    attr.config1 = 30;
    const auto wiring = asked(pmu, attr);
    ASSERT_TRUE(wiring);
    EXPECT_TRUE(uses_models(wiring->source) && wiring->source.needs_accesses);
    EXPECT_EQ(wiring->source.term[0].counter, Source::kLoadsOf + 30);
    attr.config1 = 0x1'0003;
    EXPECT_THAT(asked(pmu, attr), RefusedWith(EINVAL)) << "a Skylake's threshold has 16 bits";
}

TEST(PreciseSamples, NeedTheModelsForWhatTheySayOfAccesses) {
    CpuPmu pmu;
    abi::Attr attr = raw(0x82d0);
    attr.sample_period = 100;
    attr.flags = abi::flag("precise_ip") & -abi::flag("precise_ip");
    attr.sample_type = abi::sample("PERF_SAMPLE_ADDR");
    EXPECT_FALSE(asked(pmu, attr)->source.needs_accesses) << "the address comes from the registers";
    for (const std::uint64_t field : {abi::sample("PERF_SAMPLE_DATA_SRC"), abi::sample("PERF_SAMPLE_WEIGHT"),
                                      abi::sample("PERF_SAMPLE_WEIGHT_STRUCT")}) {
        attr.sample_type = field;
        EXPECT_TRUE(asked(pmu, attr)->source.needs_accesses) << field;
        EXPECT_FALSE(asked(pmu, attr)->source.modelled) << "the count remains exact";
    }
    attr.flags = 0;
    EXPECT_FALSE(asked(pmu, attr)->source.needs_accesses) << "samples of an event that is not precise have no access";
}

abi::Attr offcore(std::uint64_t config1) {
    abi::Attr attr = raw(0x01b7);
    attr.config1 = config1;
    return attr;
}

/// The quantities of the models that the event adds, and those that it subtracts.
using Sum = std::pair<std::set<models::Quantity>, std::set<models::Quantity>>;
Sum sum_of(std::uint64_t config1) {
    CpuPmu pmu;
    const auto wiring = asked(pmu, offcore(config1));
    Sum sum;
    if (!wiring) return sum;
    for (unsigned i = 0; i < wiring->source.terms; ++i) {
        const Source::Term& term = wiring->source.term[i];
        (term.weight > 0 ? sum.first : sum.second).insert(models::Quantity(term.counter - Source::kModelled));
    }
    return sum;
}

TEST(OffcoreResponses, AreRequestsToTheLastLevelByWhoMadeThemAndWhetherItHadTheLine) {
    using enum models::Quantity;
    EXPECT_EQ(sum_of(0x10001), Sum({l3_data_reads}, {})) << "DMND_DATA_RD:ANY_RESPONSE";
    EXPECT_EQ(sum_of(0x18007), Sum({l3_data_reads, l3_ownership_reads, l3_code_reads}, {})) << "ANY_REQUEST";
    EXPECT_EQ(sum_of(0x3f84000001), Sum({l3_data_misses}, {})) << "DMND_DATA_RD:L3_MISS_LOCAL_DRAM:SNP_ANY";
    EXPECT_EQ(sum_of(0x3f801c0002), Sum({l3_ownership_reads}, {l3_ownership_misses})) << "DMND_RFO:L3_HIT:SNP_ANY";
    EXPECT_EQ(sum_of(0x3fbc3c0490 | 1), Sum({l3_data_reads, l3_prefetches}, {})) << "all data, hit or miss";
    CpuPmu pmu;
    EXPECT_TRUE(asked(pmu, offcore(0x10001))->source.needs_accesses);
    EXPECT_TRUE(asked(pmu, offcore(0x10001))->source.modelled);
}

TEST(OffcoreResponses, OfWhatTheModelsDoNotKnowAreEinval) {
    CpuPmu pmu;
    for (const std::uint64_t config1 : {
             std::uint64_t{0},             // nothing
             std::uint64_t{0x10000},       // no request
             std::uint64_t{0x1},           // no answer
             std::uint64_t{0x10080},       // prefetch into L3 alone
             std::uint64_t{0x10008},       // a kind that a Skylake does not have
             std::uint64_t{0x10003c0001},  // only lines that another core has changed
             std::uint64_t{0x3f80040001},  // only modified lines of L3
             std::uint64_t{0x3f88000001},  // memory of another node
             std::uint64_t{0x4000010001},  // above the register's bits
         })
        EXPECT_THAT(asked(pmu, offcore(config1)), RefusedWith(EINVAL)) << std::hex << config1;
}

TEST(BranchStacks, NeedThePredictorsForTheirFlags) {
    CpuPmu pmu{{.branch_entries = 32}};
    abi::Attr attr = raw(0x20c4);
    attr.sample_period = 100;
    attr.sample_type = abi::sample("PERF_SAMPLE_BRANCH_STACK");
    const auto needs = [&](std::uint64_t filter) {
        attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | filter;
        return asked(pmu, attr)->source.needs_predictions;
    };
    EXPECT_TRUE(needs(PERF_SAMPLE_BRANCH_ANY));
    EXPECT_TRUE(needs(PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_NO_CYCLES));
    EXPECT_FALSE(needs(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_FLAGS));
    EXPECT_FALSE(needs(PERF_SAMPLE_BRANCH_CALL_STACK)) << "a stack of calls has no predictions";
}

TEST(CacheEvents, OfMissesAreCountedByTheModels) {
    CpuPmu pmu;
    for (const std::uint64_t which : {0, 1, 2, 3, 4, 5}) {
        const auto wiring = asked(pmu, cache(which, 0, 1));
        ASSERT_TRUE(wiring) << which;
        EXPECT_TRUE(wiring->source.modelled && uses_models(wiring->source)) << which;
    }
}

TEST(CacheEvents, WithoutAModelAreEnoentAsOnASkylake) {
    CpuPmu pmu;
    EXPECT_THAT(asked(pmu, cache(6, 0, 1)), RefusedWith(ENOENT)) << "nodes";
    EXPECT_THAT(asked(pmu, cache(1, 0, 0)), RefusedWith(ENOENT)) << "L1I accesses";
    EXPECT_THAT(asked(pmu, cache(0, 1, 1)), RefusedWith(ENOENT)) << "L1D store misses";
    EXPECT_THAT(asked(pmu, cache(0, 2, 0)), RefusedWith(ENOENT)) << "L1D prefetch";
}

TEST(CacheEvents, OfImpossibleOperationsAreEinval) {
    CpuPmu pmu;
    EXPECT_THAT(asked(pmu, cache(1, 1, 0)), RefusedWith(EINVAL)) << "L1I write";
    EXPECT_THAT(asked(pmu, cache(4, 1, 0)), RefusedWith(EINVAL)) << "ITLB write";
    EXPECT_THAT(asked(pmu, cache(5, 2, 1)), RefusedWith(EINVAL)) << "BPU prefetch";
    EXPECT_THAT(asked(pmu, cache(7, 0, 0)), RefusedWith(EINVAL)) << "no such cache";
    EXPECT_THAT(asked(pmu, cache(0, 3, 0)), RefusedWith(EINVAL)) << "no such operation";
    EXPECT_THAT(asked(pmu, cache(0, 0, 2)), RefusedWith(EINVAL)) << "no such result";
}

TEST(RawEvents, CountTheSameAsOnSkylake) {
    CpuPmu pmu;
    for (const RawRow& row : kRawEvents) {
        abi::Attr attr = raw(row.config);
        if (row.quantity == Quantity::offcore_requests) attr.config1 = 0x10001;
        const auto wiring = asked(pmu, attr);
        ASSERT_TRUE(wiring) << row.name;
        EXPECT_EQ(quantity_of(raw(row.config)), row.quantity);
    }
}

TEST(RawEvents, IgnoreTheBitsThatTheKernelMasksAway) {
    EXPECT_EQ(quantity_of(raw(0x5300c0)), Quantity::instructions)
        << "the bits usr, os, int and enable, which libpfm sets";
    EXPECT_EQ(quantity_of(raw(0x2000c4)), Quantity::branches) << "the AnyThread bit";
}

TEST(RawEvents, ThatCannotBeCountedAreEinvalRatherThanZero) {
    CpuPmu pmu;
    EXPECT_THAT(asked(pmu, raw(0)), RefusedWith(EINVAL));
    EXPECT_THAT(asked(pmu, raw(0x40d1)), RefusedWith(EINVAL)) << "hits of a line that is under way";
    EXPECT_THAT(asked(pmu, raw(0x10000c0)), RefusedWith(EINVAL)) << "cmask 1: cycles with an instruction";
    EXPECT_THAT(asked(pmu, raw(0x8000c0)), RefusedWith(EINVAL)) << "inverted";
    EXPECT_THAT(asked(pmu, raw(0x400c0)), RefusedWith(EINVAL)) << "edge";
}

TEST(OtherTypes, AreLeftToOtherPmus) {
    CpuPmu pmu;
    for (const std::uint32_t type : {1u, 2u, 5u, 6u, ~0u})
        EXPECT_THAT(asked(pmu, {.type = type, .config = 1}), RefusedWith(ENOENT)) << type;
}

TEST(ExcludeBits, ForUserModeOrTheHostLeaveNothingToCount) {
    CpuPmu pmu;
    for (const std::uint64_t flags : {abi::flag("exclude_user"), abi::flag("exclude_host"),
                                      abi::flag("exclude_user") | abi::flag("exclude_kernel")}) {
        abi::Attr attr = hardware(1);
        attr.flags = flags;
        EXPECT_EQ(asked(pmu, attr)->source.kind, Source::Kind::nothing);
    }
    abi::Attr attr = hardware(1);
    attr.flags = abi::flag("exclude_kernel") | abi::flag("exclude_hv") | abi::flag("exclude_guest");
    EXPECT_EQ(asked(pmu, attr)->source.kind, Source::Kind::counters);
}

TEST(PreciseIp, IsForSamplingEventsOnly) {
    CpuPmu pmu;
    abi::Attr attr = hardware(1);
    attr.flags = 3ull << 15;
    EXPECT_THAT(asked(pmu, attr), RefusedWith(EINVAL));
    attr.sample_period = 1000;
    EXPECT_TRUE(asked(pmu, attr));
}

TEST(BranchStack, IsAvailableIfTheEngineRecordsBranches) {
    CpuPmu without;
    CpuPmu with{{.branch_entries = 32}};
    abi::Attr attr = hardware(0);
    attr.sample_type = abi::sample("PERF_SAMPLE_BRANCH_STACK");
    EXPECT_THAT(asked(without, attr), RefusedWith(EOPNOTSUPP));
    attr.branch_sample_type = kAnyBranch;
    EXPECT_TRUE(asked(with, attr));
}

TEST(BranchStack, OfCallStackEntriesCannotBeCombinedWithOtherBranches) {
    CpuPmu pmu{{.branch_entries = 32}};
    abi::Attr attr = hardware(0);
    attr.sample_type = abi::sample("PERF_SAMPLE_BRANCH_STACK");
    attr.branch_sample_type = abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_CALL_STACK");
    EXPECT_TRUE(asked(pmu, attr));
    attr.branch_sample_type |= kAnyBranch;
    EXPECT_THAT(asked(pmu, attr), RefusedWith(EINVAL));
}

TEST(BranchStack, DoesNotSupportCounters) {
    CpuPmu pmu{{.branch_entries = 32}};
    abi::Attr attr = hardware(0);
    attr.sample_type = abi::sample("PERF_SAMPLE_BRANCH_STACK");
    attr.branch_sample_type = kAnyBranch | abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_COUNTERS");
    EXPECT_THAT(asked(pmu, attr), RefusedWith(EINVAL));
}

TEST(ScarceCounters, AreNGenericAndThreeFixedOnes) {
    CpuPmu pmu{{.generic_counters = 4}};
    EXPECT_EQ(asked(pmu, hardware(4))->counters, 0xfu);
    EXPECT_EQ(asked(pmu, hardware(1))->counters, 0xfu | 1ull << 32) << "instructions: also fixed counter 0";
    EXPECT_EQ(asked(pmu, hardware(0))->counters, 0xfu | 1ull << 33) << "cycles: also fixed counter 1";
    EXPECT_EQ(asked(pmu, hardware(9))->counters, 1ull << 34) << "reference cycles: only fixed counter 2";
}

TEST(ScarceCounters, LimitLoadsAndStoresToTheFirstFour) {
    CpuPmu pmu{{.generic_counters = 8}};
    EXPECT_EQ(asked(pmu, raw(0x81d0))->counters, 0xfu);
    CpuPmu narrow{{.generic_counters = 1}};
    EXPECT_EQ(asked(narrow, raw(0x81d0))->counters, 0x1u);
}

TEST(Clockid, MustBeOneThatAnInterruptMayRead) {
    CpuPmu pmu;
    EXPECT_TRUE(asked(pmu, hardware(1))->monotonic_only);
}

}  // namespace
}  // namespace anyperf::pmu
