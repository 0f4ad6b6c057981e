// failures_test.cpp: what a run does where the machine gives it too little: it goes on in less, or says what is missing
// and ends with 125.
#include <gtest/gtest.h>

#include "engine/command.h"

namespace anyperf::engine_test {
namespace {

class Scarcity : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }

    /// `anyperf run -- sh -c SCRIPT`, with something done by a shell first.
    static Outcome run_behind(const std::string& first, const std::string& script) {
        return run(
            {.words = {"bash", "-c", first + "; exec " ANYPERF_BINARY_DIR "/bin/anyperf run -- sh -c \"$0\"", script},
             .directory = {}});
    }
};

TEST_F(Scarcity, TwoGigabytesOfAddressSpaceAreEnough) {
    const Outcome outcome = run_behind("ulimit -v 2097152", "ls / >/dev/null; seq 3 | tail -1; exit 4");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.out, "3\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(Scarcity, OneGigabyteOfDataIsEnough) {
    const Outcome outcome = run_behind("ulimit -d 1048576", "ls / >/dev/null; seq 3 | tail -1; exit 4");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.out, "3\n");
}

TEST_F(Scarcity, TooLittleAddressSpaceIsSaid) {
    const Outcome outcome = run_behind("ulimit -v 200000", "exit 4");
    EXPECT_EQ(outcome.status, 125);
    EXPECT_TRUE(outcome.err.contains("cause: ")) << outcome.err;
    EXPECT_TRUE(outcome.err.contains("memory")) << outcome.err;
}

TEST_F(Scarcity, OfDescriptorsLeavesTheProgramItsOwn) {
    const Outcome outcome =
        run_behind("ulimit -n 16", "exec 8</dev/null 9</dev/null; ls /proc/self/fd | wc -l; exit 4");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.err, "");
}

TEST_F(Scarcity, OfProcessesIsTheProgramsError) {
    const Outcome native =
        run({.words = {"bash", "-c", "(ulimit -u 0; true | true) 2>/dev/null; echo $?"}, .directory = {}});
    const Outcome engine = run(
        under_engine({.words = {"bash", "-c", "(ulimit -u 0; true | true) 2>/dev/null; echo $?"}, .directory = {}}));
    EXPECT_EQ(engine.out, native.out);
    EXPECT_EQ(engine.status, native.status);
}

}  // namespace
}  // namespace anyperf::engine_test
