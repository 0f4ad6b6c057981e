// compat_test.cpp: other people's programs, a row of compat.tsv each: output, errors and exit status under the engine
// are the native ones.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "engine/command.h"
#include "engine/table.h"

namespace anyperf::engine_test {
namespace {

struct Case {
    std::string name;
    std::string needs;
    std::string command;
};

void PrintTo(const Case& row, std::ostream* out) {
    *out << row.name;
}

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const auto& row : read_table("compat.tsv", 4)) out.push_back({row[0], row[1], row[2]});
    return out;
}

/// The first program of the list that is not installed.
std::string missing(const std::string& needs) {
    std::istringstream names(needs);
    for (std::string name; std::getline(names, name, ',');)
        if (run({.words = {"sh", "-c", "command -v " + name}, .directory = {}}).status != 0) return name;
    return {};
}

/// The directory's name may be in messages; it is another one in each run.
std::string without(std::string text, const std::string& directory) {
    for (std::size_t at; (at = text.find(directory)) != std::string::npos;) text.replace(at, directory.size(), "HERE");
    return text;
}

/// bash names the process whose end it reports, right-aligned; numbers are others in each run, and may be longer.
std::string without_pids(const std::string& text) {
    static const std::regex number(R"((: line [0-9]+:) +[0-9]+ )");
    return std::regex_replace(text, number, "$1 PID ");
}

Outcome run_case(const Case& row, bool engine) {
    const Scratch scratch;
    Command command{.words = {"bash", "-c", row.command}, .directory = scratch.path()};
    command.environment.emplace_back("SRC=" ANYPERF_SOURCE_DIR);
    Outcome outcome = run(engine ? under_engine(command) : command);
    outcome.out = without(outcome.out, scratch.path().string());
    outcome.err = without_pids(without(outcome.err, scratch.path().string()));
    return outcome;
}

class Compatibility : public testing::TestWithParam<Case> {};

TEST_P(Compatibility, TheProgramDoesUnderTheEngineWhatItDoesNatively) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    if (const auto name = missing(GetParam().needs); !name.empty()) GTEST_SKIP() << name << " is not installed";
    const Outcome native = run_case(GetParam(), false);
    ASSERT_FALSE(native.timed_out);
    const Outcome engine = run_case(GetParam(), true);
    EXPECT_FALSE(engine.timed_out);
    EXPECT_EQ(engine.err, native.err);  // first: where the engine itself has failed, that is where it says why
    EXPECT_EQ(engine.out, native.out);
    EXPECT_EQ(engine.status, native.status);
}

std::string name_of(const testing::TestParamInfo<Case>& row) {
    return row.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, Compatibility, testing::ValuesIn(cases()), name_of);

/// The run's own command, not one that a shell of the run starts.
TEST(Command, IsAScriptOrAScriptOfAScript) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    const Scratch scratch;
    const std::string make =
        R"(printf '#!/bin/sh -e\necho "$0" "$@"; tr "\\0" " " < /proc/$$/cmdline; cat /proc/$$/comm; exit 3' > s
                                printf '#!./s first' > t; chmod +x s t)";
    ASSERT_EQ(run({.words = {"bash", "-c", make}, .directory = scratch.path()}).status, 0);
    for (const char* script : {"./s", "./t"}) {
        const Command command{.words = {script, "a", "b c"}, .directory = scratch.path()};
        const Outcome native = run(command), engine = run(under_engine(command));
        EXPECT_EQ(native.status, 3);
        EXPECT_EQ(engine.status, native.status);
        EXPECT_EQ(engine.out, native.out);
        EXPECT_EQ(engine.err, native.err);
    }
}

TEST(Command, ThatReadsTheRegistersOfAProgramIsToldWhyItCannot) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    const Command command{.words = {ANYPERF_BINARY_DIR "/tests/programs/traced", "registers"}, .directory = {}};
    EXPECT_EQ(run(command).status, 0);
    const Outcome engine = run(under_engine(command));
    EXPECT_EQ(engine.status, 5) << "EIO";
    EXPECT_TRUE(engine.err.contains("a debugger can't look into a program of a run")) << engine.err;
}

}  // namespace
}  // namespace anyperf::engine_test
