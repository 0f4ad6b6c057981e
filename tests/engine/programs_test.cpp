// programs_test.cpp: the small programs of programs.tsv behave under the engine as they do natively: the oracle is a
// native run. Counts of programs that the table marks `exact` must equal those of a run by single steps (step_count),
// and must not change from run to run.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/command.h"
#include "engine/table.h"

namespace anyperf::engine_test {
namespace {

struct Program {
    std::string name;
    bool exact = false;
};

void PrintTo(const Program& program, std::ostream* out) {
    *out << program.name;
}

std::vector<Program> programs(bool exact_only) {
    std::vector<Program> out;
    for (const auto& row : read_table("programs.tsv", 5))
        if (!exact_only || row[3] == "exact") out.push_back({row[0], row[3] == "exact"});
    return out;
}

Command command_of(const Program& program) {
    return {.words = {ANYPERF_BINARY_DIR "/tests/programs/" + program.name}, .directory = {}};
}

nlohmann::json counts_in(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return nlohmann::json::parse(stream, nullptr, false);
}

nlohmann::json counted_by_engine(const Program& program, const Scratch& scratch) {
    const auto file = scratch.path() / "engine.json";
    run(under_engine(command_of(program), {"--count", "--count-to", file.string()}));
    return counts_in(file);
}

nlohmann::json counted_by_stepping(const Program& program, const Scratch& scratch) {
    const auto file = scratch.path() / "stepping.json";
    Command command = command_of(program);
    command.words.insert(command.words.begin(),
                         {ANYPERF_BINARY_DIR "/tests/step_count", "--count-to", file.string(), "--"});
    run(command);
    return counts_in(file);
}

/// "PROGRAM: CLASS: engine N, stepping M" for each class that differs; empty if none does.
std::string differences(const Program& program, const nlohmann::json& engine, const nlohmann::json& stepping) {
    std::string out;
    for (const auto& [name, expected] : stepping.items())
        if (const auto got = engine.value(name, nlohmann::json{}); got != expected)
            out += program.name + ": " + name + ": engine " + got.dump() + ", stepping " + expected.dump() + "\n";
    return out;
}

/// The sum over all threads of all processes; `total` must equal it.
nlohmann::json sum_of_threads(const nlohmann::json& report) {
    nlohmann::json sum = nlohmann::json::object();
    for (const auto& process : report.at("processes"))
        for (const auto& thread : process.at("threads"))
            for (const auto& [name, count] : thread.at("counts").items())
                sum[name] = sum.value(name, std::uint64_t{0}) + count.get<std::uint64_t>();
    return sum;
}

class SmallProgram : public testing::TestWithParam<Program> {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }
};

class ExactProgram : public SmallProgram {
  protected:
    Scratch scratch_;
};

/// Why this program's counts are known to differ (tests/engine/differences.tsv); empty if they must be equal.
std::string known_difference(const std::string& program) {
    for (const Row& row : read_table("differences.tsv", 2))
        if (row[0] == program) return row[1];
    return "";
}

void expect_as_native(const Command& native_command, const Command& engine_command) {
    const Outcome native = run(native_command);
    const Outcome engine = run(engine_command);
    EXPECT_FALSE(engine.timed_out);
    EXPECT_EQ(engine.out, native.out);
    EXPECT_EQ(engine.err, native.err);
    EXPECT_EQ(engine.status, native.status);
    if (native.out.starts_with("missing: ")) GTEST_SKIP() << native.out;  // what the program needs of the CPU
}

TEST_P(SmallProgram, BehavesUnderTheEngineAsNatively) {
    expect_as_native(command_of(GetParam()), under_engine(command_of(GetParam())));
}

TEST_P(SmallProgram, BehavesAsNativelyWhileCounted) {
    const Outcome native = run(command_of(GetParam()));
    const Outcome engine = run(under_engine(command_of(GetParam()), {"--count", "--count-to", "/dev/null"}));
    EXPECT_FALSE(engine.timed_out);
    EXPECT_EQ(engine.out, native.out);
    EXPECT_EQ(engine.status, native.status);
}

TEST_P(ExactProgram, HasTheCountsOfSingleStepping) {
    if (const auto why = known_difference(GetParam().name); !why.empty()) GTEST_SKIP() << why;
    const auto engine = counted_by_engine(GetParam(), scratch_);
    const auto stepping = counted_by_stepping(GetParam(), scratch_);
    ASSERT_TRUE(engine.is_object()) << "the engine wrote no counts";
    ASSERT_TRUE(stepping.is_object());
    EXPECT_EQ(differences(GetParam(), engine.at("total"), stepping.at("total")), "");
    EXPECT_EQ(sum_of_threads(engine), engine.at("total"));
}

TEST_P(ExactProgram, HasTheSameCountsInTenRuns) {
    const auto first = counted_by_engine(GetParam(), scratch_);
    ASSERT_TRUE(first.is_object()) << "the engine wrote no counts";
    for (int i = 1; i < 10; ++i)
        EXPECT_EQ(counted_by_engine(GetParam(), scratch_).value("total", nlohmann::json{}), first.at("total"));
}

/// A code cache of 64K holds a few hundred blocks: it is emptied again and again while all threads wait outside of it.
Command with_cache_of(const char* size, Command command) {
    command.environment.emplace_back(std::string{"ANYPERF_ENGINE_CACHE="} + size);
    return command;
}

TEST_P(SmallProgram, BehavesAsNativelyWithASmallCache) {
    expect_as_native(command_of(GetParam()), with_cache_of("64K", under_engine(command_of(GetParam()))));
}

TEST_P(ExactProgram, HasTheSameCountsWithASmallCache) {
    const auto counted = [&](const char* size) {  // same length of the environment, since programs scan it
        const auto file = scratch_.path() / size;
        run(with_cache_of(size, under_engine(command_of(GetParam()), {"--count", "--count-to", file.string()})));
        return counts_in(file).value("total", nlohmann::json{});
    };
    const auto large = counted("64M");
    ASSERT_TRUE(large.is_object()) << "the engine wrote no counts";
    EXPECT_EQ(counted("64K"), large);
}

/// Returns are paired with the host's from the first block on. Without it only those of large programs are.
Command with_paired_returns(const char* from, Command command) {
    command.environment.emplace_back(std::string{"ANYPERF_ENGINE_PAIR_RETURNS="} + from);
    return command;
}

TEST_P(SmallProgram, BehavesAsNativelyWithPairedReturns) {
    expect_as_native(command_of(GetParam()), with_paired_returns("0", under_engine(command_of(GetParam()))));
}

TEST_P(SmallProgram, BehavesAsNativelyWithPairedReturnsInASmallCache) {
    expect_as_native(command_of(GetParam()),
                     with_cache_of("64K", with_paired_returns("100", under_engine(command_of(GetParam())))));
}

TEST_P(ExactProgram, HasTheSameCountsWithPairedReturns) {
    const auto counted = [&](const char* from) {  // same length of the environment, since programs scan it
        const auto file = scratch_.path() / from;
        run(with_paired_returns(from, under_engine(command_of(GetParam()), {"--count", "--count-to", file.string()})));
        return counts_in(file).value("total", nlohmann::json{});
    };
    const auto unpaired = counted("never");
    ASSERT_TRUE(unpaired.is_object()) << "the engine wrote no counts";
    EXPECT_EQ(counted("00000"), unpaired);
    EXPECT_EQ(counted("00100"), unpaired);
}

/// Each block that runs a second time becomes the head of a trace, if it can.
Command with_traces(const char* from, Command command) {
    command.environment.emplace_back(std::string{"ANYPERF_ENGINE_TRACES="} + from);
    return command;
}

TEST_P(SmallProgram, BehavesAsNativelyWithTraces) {
    expect_as_native(command_of(GetParam()), with_traces("1", under_engine(command_of(GetParam()))));
}

TEST_P(SmallProgram, BehavesAsNativelyWithTracesInASmallCache) {
    expect_as_native(command_of(GetParam()),
                     with_cache_of("64K", with_traces("1", under_engine(command_of(GetParam())))));
}

TEST_P(ExactProgram, HasTheSameCountsWithTraces) {
    const auto counted = [&](const char* from) {  // same length of the environment, since programs scan it
        const auto file = scratch_.path() / from;
        run(with_traces(from, under_engine(command_of(GetParam()), {"--count", "--count-to", file.string()})));
        return counts_in(file).value("total", nlohmann::json{});
    };
    const auto without = counted("never");
    ASSERT_TRUE(without.is_object()) << "the engine wrote no counts";
    EXPECT_EQ(counted("00001"), without);
}

/// With words for eight tuples nearly every segment adds to several. Eight and as many as fit: environments of one
/// length, since programs scan it.
TEST_P(ExactProgram, HasTheSameCountsWithFewTuples) {
    const auto counted = [&](const char* tuples) {
        const auto file = scratch_.path() / tuples;
        Command command = under_engine(command_of(GetParam()), {"--count", "--count-to", file.string()});
        command.environment.emplace_back(std::string{"ANYPERF_ENGINE_TUPLES="} + tuples);
        run(command);
        return counts_in(file).value("total", nlohmann::json{});
    };
    const auto many = counted("1016");
    ASSERT_TRUE(many.is_object()) << "the engine wrote no counts";
    EXPECT_EQ(counted("0008"), many);
}

std::string name_of(const testing::TestParamInfo<Program>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, SmallProgram, testing::ValuesIn(programs(false)), name_of);
INSTANTIATE_TEST_SUITE_P(All, ExactProgram, testing::ValuesIn(programs(true)), name_of);

}  // namespace
}  // namespace anyperf::engine_test
