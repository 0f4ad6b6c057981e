// sampled_places_test.cpp: samples of an event of instructions are at every Nth instruction, with the same open calls,
// whether a program runs in traces or in blocks. Blocks are the oracle: conformance/sampling and cli/call_stacks hold
// them against single steps.
#include <gtest/gtest.h>

#include "engine/command.h"

namespace anyperf::engine_test {
namespace {

const std::string kAnyperf = ANYPERF_BINARY_DIR "/bin/anyperf";

/// What `script` prints of a recording of the program: each sample's time of day left out, its address and callers.
/// `traces`: after how many executions a block becomes the head of a trace; or `never`. All have
/// five characters, because the environment is above the stack, and code on the stack moves with it.
std::string samples(const std::string& program, const std::string& period, const std::string& traces) {
    const Scratch scratch;
    const std::string data = (scratch.path() / "perf.data").string();
    Command record{.words = {kAnyperf, "record", "--virtual", "--deterministic", "-q", "-e", "instructions:u", "-e",
                             "branches:u/period=1000003/", "-c", period, "-m", "64M", "--call-graph", "exact", "-o",
                             data, "--", ANYPERF_BINARY_DIR "/tests/programs/" + program},
                   .directory = {}};
    record.environment.push_back("ANYPERF_ENGINE_TRACES=" + traces);
    const Outcome recorded = run(record);
    const Outcome text =
        run({.words = {kAnyperf, "script", "-i", data, "-F", "comm,event,period,ip"}, .directory = {}});
    EXPECT_EQ(text.status, 0) << recorded.err << text.err;
    return text.out;
}

class SampledPlaces : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }
};

TEST_P(SampledPlaces, AreTheSameInTracesAndInBlocks) {
    for (const std::string period : {"7", "61", "1009"}) {
        const std::string expected = samples(GetParam(), period, "never");
        ASSERT_FALSE(expected.empty()) << period;
        EXPECT_TRUE(samples(GetParam(), period, "00001") == expected) << period;
        EXPECT_TRUE(samples(GetParam(), period, "00517") == expected) << period;
    }
}

INSTANTIATE_TEST_SUITE_P(Some, SampledPlaces,
                         testing::Values("traces", "calls", "branches", "call_stacks", "flags_kept", "signal_fault",
                                         "signal_places", "code_changes"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace anyperf::engine_test
