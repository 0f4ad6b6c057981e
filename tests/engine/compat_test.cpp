// compat_test.cpp: programs of other projects, one row of compat.tsv each, behave under the engine as they do natively.
// The oracle is a native run of the same command: standard output, standard error and exit status must be equal.
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

/// The first program of the comma-separated list that is not installed; empty if all are.
std::string first_missing(const std::string& needs) {
    std::istringstream names(needs);
    for (std::string name; std::getline(names, name, ',');)
        if (run({.words = {"sh", "-c", "command -v " + name}, .directory = {}}).status != 0) return name;
    return {};
}

/// Replaces the directory's name, which messages may contain and which differs from run to run.
std::string without_directory(std::string text, const std::string& directory) {
    for (std::size_t at; (at = text.find(directory)) != std::string::npos;) text.replace(at, directory.size(), "HERE");
    return text;
}

/// Replaces the right-aligned pid in bash's report of a process's end: it differs from run to run, also in length.
std::string without_pids(const std::string& text) {
    static const std::regex number(R"((: line [0-9]+:) +[0-9]+ )");
    return std::regex_replace(text, number, "$1 PID ");
}

Outcome run_case(const Case& row, bool engine) {
    const Scratch scratch;
    Command command{.words = {"bash", "-c", row.command}, .directory = scratch.path()};
    command.environment.emplace_back("SRC=" ANYPERF_SOURCE_DIR);
    Outcome outcome = run(engine ? under_engine(command) : command);
    outcome.out = without_directory(outcome.out, scratch.path().string());
    outcome.err = without_pids(without_directory(outcome.err, scratch.path().string()));
    return outcome;
}

class ForeignProgram : public testing::TestWithParam<Case> {};

TEST_P(ForeignProgram, BehavesUnderTheEngineAsNatively) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    if (const auto name = first_missing(GetParam().needs); !name.empty()) GTEST_SKIP() << name << " is not installed";
    const Outcome native = run_case(GetParam(), false);
    ASSERT_FALSE(native.timed_out);
    const Outcome engine = run_case(GetParam(), true);
    EXPECT_FALSE(engine.timed_out);
    EXPECT_EQ(engine.err, native.err);  // first, since the engine reports its own failures there
    EXPECT_EQ(engine.out, native.out);
    EXPECT_EQ(engine.status, native.status);
}

std::string name_of(const testing::TestParamInfo<Case>& row) {
    return row.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, ForeignProgram, testing::ValuesIn(cases()), name_of);

/// The command given to `anyperf run` itself, as opposed to a command that a shell inside the run starts.
TEST(Command, MayBeAScriptOrAScriptWhoseInterpreterIsAScript) {
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

}  // namespace
}  // namespace anyperf::engine_test
