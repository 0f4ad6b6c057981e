#include "recording/sampling.h"

#include <gtest/gtest.h>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"

namespace anyperf::recording {
namespace {

using abi::flag;
using abi::sample;

events::EventGroup group_of(std::initializer_list<std::uint32_t> types) {
    events::EventGroup group;
    for (const std::uint32_t type : types) {
        events::Event event;
        event.attr.type = type;
        group.events.push_back(event);
    }
    return group;
}

bool has(const SampledEvent& sampled, std::uint64_t mask) {
    return (sampled.event.attr.flags & mask) == mask;
}

TEST(Sampling, AnEventIsSampledByFrequencyUnlessAPeriodIsGiven) {
    const auto by_frequency = sampled_events({group_of({abi::kTypeSoftware})}, {});
    ASSERT_EQ(by_frequency.size(), 1U);
    EXPECT_TRUE(has(by_frequency[0], flag("freq")));
    EXPECT_EQ(by_frequency[0].event.attr.sample_period, kDefaultFrequency);
    SamplingOptions options;
    options.period = 1000;
    const auto by_period = sampled_events({group_of({abi::kTypeSoftware})}, options);
    EXPECT_FALSE(has(by_period[0], flag("freq")));
    EXPECT_EQ(by_period[0].event.attr.sample_period, 1000U);
}

TEST(Sampling, EachTracepointIsASampleWithItsFields) {
    const auto sampled = sampled_events({group_of({abi::kTypeTracepoint})}, {});
    EXPECT_EQ(sampled[0].event.attr.sample_period, 1U);
    EXPECT_NE(sampled[0].event.attr.sample_type & sample("PERF_SAMPLE_RAW"), 0U);
}

TEST(Sampling, TheFirstEventTracksNamesAndMaps) {
    const auto sampled = sampled_events({group_of({abi::kTypeSoftware}), group_of({abi::kTypeHardware})}, {});
    EXPECT_TRUE(has(sampled[0], flag("mmap2") | flag("comm") | flag("task")));
    EXPECT_FALSE(has(sampled[1], flag("mmap2")));
}

TEST(Sampling, SeveralEventsHaveAnIdentifier) {
    const auto one = sampled_events({group_of({abi::kTypeSoftware})}, {});
    EXPECT_EQ(one[0].event.attr.sample_type & sample("PERF_SAMPLE_IDENTIFIER"), 0U);
    for (const auto& each : sampled_events({group_of({abi::kTypeSoftware, abi::kTypeSoftware})}, {}))
        EXPECT_NE(each.event.attr.sample_type & sample("PERF_SAMPLE_IDENTIFIER"), 0U);
}

TEST(Sampling, OnlyTheLeaderOfAnSGroupSamples) {
    auto group = group_of({abi::kTypeSoftware, abi::kTypeSoftware});
    for (auto& event : group.events) event.sample_read = true;
    const auto sampled = sampled_events({group}, {});
    EXPECT_NE(sampled[0].event.attr.sample_period, 0U);
    EXPECT_EQ(sampled[1].event.attr.sample_period, 0U);
    EXPECT_EQ(sampled[0].event.attr.sample_type, sampled[1].event.attr.sample_type);
    EXPECT_NE(sampled[0].event.attr.read_format & abi::read_format("PERF_FORMAT_GROUP"), 0U);
    EXPECT_EQ(sampled[1].leader, 0U);
}

TEST(Sampling, ASeparateTrackingEventIsOnFromTheBeginning) {
    SamplingOptions options;
    options.separate_tracking = true;
    const auto sampled = sampled_events({group_of({abi::kTypeSoftware})}, options);
    ASSERT_EQ(sampled.size(), 2U);
    EXPECT_TRUE(sampled[1].tracks);
    EXPECT_FALSE(has(sampled[1], flag("disabled")));
    EXPECT_TRUE(has(sampled[0], flag("disabled")));
    EXPECT_FALSE(has(sampled[0], flag("mmap")));
}

TEST(Sampling, CopiedStacksReplaceTheUsersPartOfCallChains) {
    SamplingOptions options;
    options.call_graph = CallGraph::stacks;
    const auto sampled = sampled_events({group_of({abi::kTypeSoftware})}, options);
    EXPECT_TRUE(has(sampled[0], flag("exclude_callchain_user")));
    EXPECT_EQ(sampled[0].event.attr.sample_stack_user, options.stack_bytes);
    EXPECT_NE(sampled[0].event.attr.sample_regs_user, 0U);
}

TEST(Sampling, RegistersAreAddedToThoseThatCopiedStacksNeed) {
    SamplingOptions options;
    options.user_registers = 1 << 8;
    options.interrupt_registers = 3;
    const auto plain = sampled_events({group_of({abi::kTypeSoftware})}, options);
    EXPECT_EQ(plain[0].event.attr.sample_regs_user, 1U << 8);
    EXPECT_EQ(plain[0].event.attr.sample_regs_intr, 3U);
    constexpr std::uint64_t kBoth = sample("PERF_SAMPLE_REGS_USER") | sample("PERF_SAMPLE_REGS_INTR");
    EXPECT_EQ(plain[0].event.attr.sample_type & kBoth, kBoth);
    options.call_graph = CallGraph::stacks;
    const auto stacks = sampled_events({group_of({abi::kTypeSoftware})}, options);
    EXPECT_EQ(stacks[0].event.attr.sample_regs_user, kGeneralRegisters);
}

TEST(Sampling, EventsWithoutSamplesCountAndReportThreadsThatEnd) {
    SamplingOptions options;
    options.thread_counts = options.no_samples = true;
    options.frequency = 1000;
    const auto sampled = sampled_events({group_of({abi::kTypeSoftware})}, options);
    EXPECT_EQ(sampled[0].event.attr.sample_period, 0U);
    EXPECT_TRUE(has(sampled[0], flag("inherit_stat")));
    EXPECT_FALSE(has(sampled[0], flag("freq")));
}

}  // namespace
}  // namespace anyperf::recording
