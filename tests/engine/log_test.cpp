// log_test.cpp: what ANYPERF_ENGINE_LOG writes for each kind of log, and how tools/engine-code shows it. A logged run
// must behave as one without a log.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "engine/command.h"

namespace anyperf::engine_test {
namespace {

const std::string kHello = ANYPERF_BINARY_DIR "/tests/programs/hello";
const std::string kFaults = ANYPERF_BINARY_DIR "/tests/programs/signal_fault";

class EngineLog : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }

    /// The log of a run of the program. Expects the program to behave as in a run without a log.
    std::string log_of(const std::string& program, const std::string& kinds) {
        const auto file = scratch_.path() / "log";
        Command command = under_engine({.words = {program}, .directory = {}});
        const Outcome unlogged = run(command);
        command.environment.push_back("ANYPERF_ENGINE_LOG=" + kinds + ":" + file.string());
        const Outcome logged = run(command);
        EXPECT_EQ(logged.out, unlogged.out);
        EXPECT_EQ(logged.err, unlogged.err);
        EXPECT_EQ(logged.status, unlogged.status);
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }

    Scratch scratch_;
};

bool has_line(const std::string& log, const std::string& pattern) {
    return std::regex_search(log, std::regex("(^|\n)[0-9]+ [0-9]+ " + pattern + "\n"));
}

TEST_F(EngineLog, NamesSystemCalls) {
    const std::string log = log_of(kHello, "syscalls");
    EXPECT_TRUE(has_line(log, R"(syscall write\(0x1, 0x[0-9a-f]+, 0x[0-9a-f]+, .*\) = 0x[0-9a-f]+)")) << log;
    EXPECT_FALSE(log.contains(" block ")) << log;
}

TEST_F(EngineLog, ListsBlocksAndLinks) {
    const std::string log = log_of(kFaults, "blocks,links");
    EXPECT_TRUE(has_line(log, "block 0x[0-9a-f]+ bytes [0-9]+ instructions [0-9]+ at 0x[0-9a-f]+ bytes [0-9]+")) << log;
    EXPECT_TRUE(has_line(log, "link 0x[0-9a-f]+ to 0x[0-9a-f]+ at 0x[0-9a-f]+")) << log;
    EXPECT_FALSE(log.contains(" code ")) << log;
}

TEST_F(EngineLog, ListsSignalsWithTheirAddresses) {
    const std::string log = log_of(kFaults, "signals");
    EXPECT_TRUE(has_line(log, "signal 11 code 1 at 0x[0-9a-f]+ address 0x[0-9a-f]+ handler 0x[0-9a-f]+")) << log;
}

TEST_F(EngineLog, GoesToStandardErrorWithoutAFile) {
    Command command = under_engine({.words = {kHello}, .directory = {}});
    command.environment.emplace_back("ANYPERF_ENGINE_LOG=syscalls");
    EXPECT_TRUE(has_line(run(command).err, "syscall write.*"));
}

TEST_F(EngineLog, OfAnUnknownKindIsRefusedWithTheListOfKinds) {
    Command command = under_engine({.words = {kHello}, .directory = {}});
    command.environment.emplace_back("ANYPERF_ENGINE_LOG=blocks,everything");
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_TRUE(outcome.err.contains("ANYPERF_ENGINE_LOG=blocks,everything is not valid")) << outcome.err;
    EXPECT_TRUE(outcome.err.contains("blocks,code,links,syscalls,signals")) << outcome.err;
}

TEST_F(EngineLog, OfCodeIsShownAsInstructionsSideBySide) {
    log_of(kHello, "code");
    const Outcome shown =
        run({.words = {ANYPERF_BINARY_DIR "/tools/engine-code", (scratch_.path() / "log").string()}, .directory = {}});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_TRUE(std::regex_search(shown.out, std::regex(R"(0x[0-9a-f]+  mov eax, .* \| 0x[0-9a-f]+  mov eax, )")))
        << shown.out;
    EXPECT_TRUE(std::regex_search(shown.out, std::regex(R"(0x[0-9a-f]+  syscall +\| 0x[0-9a-f]+  mov .*gs:)")))
        << shown.out;
}

}  // namespace
}  // namespace anyperf::engine_test
