// sampled_branches_test.cpp: each entry of a branch stack says what plain predictors say that are fed by single steps
// (step_count --branches), and its cycles are those that the event of cycles counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "engine/command.h"

namespace anyperf::engine_test {
namespace {

struct Branch {
    std::string from, to;
    bool mispredicted = false;
    bool operator==(const Branch&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Branch& one) {
    return out << one.from << " to " << one.to << (one.mispredicted ? ", mispredicted" : ", predicted");
}

/// A branch, and the cycles from the one before to it.
struct Timed {
    Branch branch;
    std::uint64_t cycles = 0;
};

const std::string kProgram = ANYPERF_BINARY_DIR "/tests/programs/fixed/modelled";
const std::string kAnyperf = ANYPERF_BINARY_DIR "/bin/anyperf";
const std::string kTakenBranches = "r20c4";
const std::string kStepCount = ANYPERF_BINARY_DIR "/tests/step_count";

std::vector<Branch> stepped_branches(const std::string& machine, const Scratch& scratch) {
    const auto file = scratch.path() / "branches";
    run({.words = {kStepCount, "--models", "--branches", file.string(), "--machine", machine, "--count-to", "/dev/null",
                   "--", kProgram},
         .directory = {}});
    std::vector<Branch> listed;
    std::ifstream stream(file);
    for (Branch one; stream >> one.from >> one.to >> one.mispredicted;) listed.push_back(one);
    return listed;
}

/// Reads 0xFROM/0xTO/M or P/X or -/A or -/CYCLES.
Timed next_entry(std::istream& entries) {
    std::string entry, verdict, in_transaction, aborted;
    entries >> entry;
    std::ranges::replace(entry, '/', ' ');
    std::stringstream fields(entry);
    Timed one;
    if (!(fields >> one.branch.from >> one.branch.to >> verdict >> in_transaction >> aborted >> one.cycles)) return one;
    EXPECT_TRUE(verdict == "M" || verdict == "P") << entry;
    one.branch = {one.branch.from.substr(2), one.branch.to.substr(2), verdict == "M"};
    return one;
}

/// The newest entry of each sample's branch stack, with the cycles that the next sample has for it: the newest one has
/// none. `events`: the first one samples each taken branch.
std::vector<Timed> sampled_branches(const std::vector<std::string>& events, const std::string& machine,
                                    const Scratch& scratch) {
    const std::string data = (scratch.path() / "perf.data").string();
    std::vector<std::string> words{kAnyperf, "record", "--virtual", "--deterministic", "-q", "--machine", machine};
    for (const std::string& event : events) words.insert(words.end(), {"-e", event});
    words.insert(words.end(), {"-c", "1", "-m", "256M", "-j", "any,u", "-o", data, "--", kProgram});
    run({.words = words, .directory = {}});
    const Outcome text = run({.words = {kAnyperf, "script", "-i", data, "-F", "event,brstack"}, .directory = {}});
    std::vector<Timed> samples;
    std::stringstream lines(text.out);
    for (std::string line; std::getline(lines, line);) {
        if (!line.contains(kTakenBranches)) continue;
        const auto start = line.find("0x");
        if (start == std::string::npos) continue;
        std::stringstream entries(line.substr(start));
        const Timed newest = next_entry(entries);
        const Timed before = next_entry(entries);
        if (!samples.empty()) samples.back().cycles = before.cycles;
        EXPECT_EQ(newest.cycles, 0U) << line;
        samples.push_back(newest);
    }
    return samples;
}

void expect_equal(const std::vector<Timed>& sampled, const std::vector<Branch>& listed) {
    ASSERT_FALSE(listed.empty()) << "the program could not be stepped";
    for (std::size_t i = 0; i < std::min(sampled.size(), listed.size()); ++i) {
        ASSERT_EQ(sampled[i].branch, listed[i]) << "branch " << i;
    }
    EXPECT_EQ(sampled.size(), listed.size());
}

class SampledBranches : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }
    Scratch scratch_;
};

TEST_P(SampledBranches, AreMispredictedWhereASimulatorSaysSo) {
    expect_equal(sampled_branches({kTakenBranches}, GetParam(), scratch_), stepped_branches(GetParam(), scratch_));
}

INSTANTIATE_TEST_SUITE_P(Some, SampledBranches, testing::Values("skx", "zen4", "tiny"),
                         [](const auto& test) { return test.param; });

TEST(PredictedBranches, AreTheSameWhileCachesAreModelled) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    const Scratch scratch;
    expect_equal(sampled_branches({kTakenBranches, "cache-misses/period=1000000000/"}, "skx", scratch),
                 stepped_branches("skx", scratch));
}

/// Each entry's cycles are rounded, so the sum is near the count only.
TEST(CyclesOfBranches, AddUpToTheEventOfCycles) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    const Scratch scratch;
    const std::vector<Timed> sampled = sampled_branches({kTakenBranches}, "skx", scratch);
    const std::uint64_t sum =
        std::accumulate(sampled.begin(), sampled.end(), std::uint64_t{0},
                        [](std::uint64_t so_far, const Timed& one) { return so_far + one.cycles; });
    const auto file = scratch.path() / "stat";
    run({.words = {kAnyperf, "stat", "--virtual", "--deterministic", "-x,", "-o", file.string(), "-e",
                   "cycles,branch-misses", "--", kProgram},
         .directory = {}});
    std::uint64_t counted = 0;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
        if (line.contains("cycles")) counted = std::stoull(line);
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(counted), 0.1 * static_cast<double>(counted));
}

}  // namespace
}  // namespace anyperf::engine_test
