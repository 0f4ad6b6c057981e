// modelled_test.cpp: events of caches, TLBs and branch predictors equal what a plain simulator counts that is fed by
// single steps (step_count --models), for each machine preset, whether all are counted or those of branch predictors
// alone. The programs of modelled.tsv have all their memory at fixed addresses.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <utility>

#include "engine/command.h"
#include "engine/table.h"
#include "models/machines/presets.h"

namespace anyperf::engine_test {
namespace {

/// An event and the quantities of the models that it is the sum of; those after "-" are subtracted.
struct EventRow {
    const char* event;
    std::vector<std::string> sum;
};

const std::vector<EventRow>& events() {
    static const std::vector<EventRow> rows{
        {"branch-misses", {"conditional mispredictions", "indirect mispredictions", "return mispredictions"}},
        {"branch-load-misses", {"conditional mispredictions", "indirect mispredictions", "return mispredictions"}},
        {"r1c5", {"conditional mispredictions"}},
        {"r8c5", {"return mispredictions"}},
        {"L1-dcache-load-misses", {"data lines filled"}},
        {"L1-icache-load-misses", {"code lines filled"}},
        {"r1d1", {"loads from L1"}},
        {"r2d1", {"loads from L2"}},
        {"r4d1", {"loads from L3", "loads from a clean peer", "loads from a modified peer"}},
        {"r8d1",
         {"loads from L2", "loads from L3", "loads from a clean peer", "loads from a modified peer",
          "loads from memory"}},
        {"r10d1", {"loads from L3", "loads from a clean peer", "loads from a modified peer", "loads from memory"}},
        {"r20d1", {"loads from memory"}},
        {"r41d0", {"split loads"}},
        {"r42d0", {"split stores"}},
        {"re124", {"L2 data reads"}},
        {"r2124", {"L2 data misses"}},
        {"re224", {"L2 ownership reads"}},
        {"r2224", {"L2 ownership misses"}},
        {"re424", {"L2 code reads"}},
        {"r2424", {"L2 code misses"}},
        {"rf824", {"L2 prefetches"}},
        {"r3824", {"L2 prefetch misses"}},
        {"rd824", {"L2 prefetches", "-L2 prefetch misses"}},
        {"cache-references", {"L3 code reads", "L3 data reads", "L3 ownership reads", "L3 prefetches"}},
        {"cache-misses", {"L3 code misses", "L3 data misses", "L3 ownership misses", "L3 prefetch misses"}},
        {"LLC-loads", {"L3 data reads"}},
        {"LLC-load-misses", {"L3 data misses"}},
        {"LLC-stores", {"L3 ownership reads"}},
        {"LLC-store-misses", {"L3 ownership misses"}},
        {"cpu/event=0xb7,umask=1,offcore_rsp=0x10001/", {"L3 data reads"}},
        {"cpu/event=0xb7,umask=1,offcore_rsp=0x10491/", {"L3 data reads", "L3 prefetches"}},
        {"cpu/event=0xbb,umask=1,offcore_rsp=0x3f803c0122/", {"L3 ownership reads", "-L3 ownership misses"}},
        {"cpu/event=0xbb,umask=1,offcore_rsp=0x3fbc000007/",
         {"L3 data misses", "L3 ownership misses", "L3 code misses"}},
        {"dTLB-load-misses", {"load page walks"}},
        {"dTLB-store-misses", {"store page walks"}},
        {"r2008", {"load TLB misses", "-load page walks"}},
        {"r2049", {"store TLB misses", "-store page walks"}},
        {"iTLB-load-misses", {"code page walks"}},
        {"iTLB-loads", {"code TLB misses", "-code page walks"}},
    };
    return rows;
}

/// Those of branch predictors: the first of events().
std::span<const EventRow> branch_events() {
    constexpr std::size_t kBranchEvents = 4;
    return std::span{events()}.first(kBranchEvents);
}

/// Those of caches and TLBs: the others.
std::span<const EventRow> access_events() {
    return std::span{events()}.subspan(branch_events().size());
}

std::string program_path(const std::string& name) {
    return ANYPERF_BINARY_DIR "/tests/programs/fixed/" + name;
}

/// What the simulator of each preset counts.
nlohmann::json stepped(const std::string& name, const Scratch& scratch) {
    const auto file = scratch.path() / "stepping.json";
    run({.words = {std::string{ANYPERF_BINARY_DIR} + "/tests/step_count", "--models", "--count-to", file.string(), "--",
                   program_path(name)},
         .directory = {}});
    std::ifstream stream(file);
    const auto report = nlohmann::json::parse(stream, nullptr, false);
    return report.is_object() ? report.at("models") : nlohmann::json{};
}

/// Ways of the engine to do the same.
struct Ways {
    std::string checks = "never";    ///< whether code compares accesses before it records them (ANYPERF_ENGINE_CHECKS)
    std::string traces = "never";    ///< after how many executions a block becomes a trace (ANYPERF_ENGINE_TRACES)
    std::string pages = "by-lines";  ///< how the models find out when a page was used (ANYPERF_ENGINE_PAGES)
};

/// The counts of the events, by their names, in CSV as `stat` writes it.
std::map<std::string, std::string> counted(const std::string& name, std::string_view machine, const Scratch& scratch,
                                           std::span<const EventRow> rows = events(), const Ways& ways = {}) {
    const auto file = scratch.path() / "counted.csv";
    auto environment = usual_environment();
    environment.push_back("ANYPERF_ENGINE_CHECKS=" + ways.checks);
    environment.push_back("ANYPERF_ENGINE_TRACES=" + ways.traces);
    environment.push_back("ANYPERF_ENGINE_PAGES=" + ways.pages);
    std::string list;
    for (const EventRow& row : rows) list += (list.empty() ? "" : ",") + std::string(row.event);
    run({.words = {std::string{ANYPERF_BINARY_DIR} + "/bin/anyperf", "stat", "--virtual", "-i", "--deterministic",
                   "--machine", std::string(machine), "-x", ";", "-o", file.string(), "-e", list, "--",
                   program_path(name)},
         .directory = {},
         .environment = std::move(environment)});
    std::ifstream stream(file);
    std::map<std::string, std::string> counts;
    for (std::string line; std::getline(stream, line);) {
        std::vector<std::string> fields;
        std::stringstream row(line);
        for (std::string field; std::getline(row, field, ';');) fields.push_back(field);
        if (fields.size() > 2) counts[fields[2]] = fields[0];
    }
    return counts;
}

std::string expected(const EventRow& row, const nlohmann::json& quantities) {
    std::int64_t sum = 0;
    for (const std::string& name : row.sum) {
        const bool subtracted = name.starts_with('-');
        const auto value = quantities.at(subtracted ? name.substr(1) : name).get<std::int64_t>();
        sum += subtracted ? -value : value;
    }
    return std::to_string(sum);
}

class ModelledProgram : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }
    Scratch scratch_;
};

TEST_P(ModelledProgram, HasTheCountsOfASimulatorThatIsFedByStepsForEachMachine) {
    const auto simulated = stepped(GetParam(), scratch_);
    ASSERT_TRUE(simulated.is_object()) << "the program could not be stepped";
    for (const models::Preset& preset : models::presets()) {
        const auto counts = counted(GetParam(), preset.name, scratch_);
        for (const EventRow& row : events()) {
            ASSERT_TRUE(counts.contains(row.event)) << row.event;
            EXPECT_EQ(counts.at(row.event), expected(row, simulated.at(std::string(preset.name))))
                << preset.name << ": " << row.event;
        }
        const auto alone = counted(GetParam(), preset.name, scratch_, branch_events());
        for (const EventRow& row : branch_events())
            EXPECT_EQ(alone.at(row.event), counts.at(row.event)) << preset.name << ", branches alone: " << row.event;
        for (const char* const traces : {"1", "2", "600"}) {
            const auto traced = counted(GetParam(), preset.name, scratch_, branch_events(), {.traces = traces});
            for (const EventRow& row : branch_events())
                EXPECT_EQ(traced.at(row.event), counts.at(row.event))
                    << preset.name << ", branches alone, traces from " << traces << ": " << row.event;
        }
        const Ways others[] = {
            {.pages = "looked-up"}, {.pages = "in-turns"}, {.checks = "always", .pages = "in-turns"}};
        for (const Ways& ways : others) {
            const auto other = counted(GetParam(), preset.name, scratch_, access_events(), ways);
            for (const EventRow& row : access_events())
                EXPECT_EQ(other.at(row.event), counts.at(row.event))
                    << preset.name << ", compared: " << ways.checks << ", pages " << ways.pages << ": " << row.event;
        }
    }
}

TEST(ModelledCounts, AreTheSameInTenRuns) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    const Scratch scratch;
    const auto first = counted("modelled", "skx", scratch);
    ASSERT_EQ(first.size(), events().size());
    for (int i = 1; i < 10; ++i) EXPECT_EQ(counted("modelled", "skx", scratch), first);
}

/// What cachegrind prints after `label`: "D1  misses:  9,044  ( 8,894 rd   +    150 wr)" as its numbers.
std::vector<std::int64_t> numbers_after(const std::string& text, std::string_view label) {
    std::vector<std::int64_t> numbers;
    const auto at = text.find(label);
    if (at == std::string::npos) return numbers;
    std::string digits;
    for (const char c : text.substr(at + label.size(), text.find('\n', at) - at - label.size()) + " ") {
        if (c >= '0' && c <= '9') digits += c;
        if (c == ' ' && !digits.empty()) numbers.push_back(std::stoll(std::exchange(digits, "")));
    }
    return numbers;
}

class ProgramUnderCachegrind : public testing::TestWithParam<std::string> {};

TEST_P(ProgramUnderCachegrind, HasTheMissesOfTheMachineCachegrind) {
    if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    const Scratch scratch;
    const Outcome outcome = run({.words = {"/usr/bin/env", "valgrind", "--tool=cachegrind", "--cache-sim=yes",
                                           "--cachegrind-out-file=/dev/null", "--I1=32768,8,64", "--D1=32768,8,64",
                                           "--LL=8388608,16,64", program_path(GetParam())},
                                 .directory = {}});
    const auto references = numbers_after(outcome.err, "D   refs:");
    if (references.size() != 3) GTEST_SKIP() << "valgrind is not installed, or cannot run the program";
    const auto counts = counted(GetParam(), "cachegrind", scratch);
    const auto count = [&](const char* event) { return std::stoll(counts.at(event)); };
    EXPECT_NEAR(count("r1d1") + count("r8d1"), references[1], 1 + static_cast<double>(references[1]) / 200);
    EXPECT_EQ(count("L1-icache-load-misses"), numbers_after(outcome.err, "I1  misses:").at(0));
    const auto first = numbers_after(outcome.err, "D1  misses:");
    EXPECT_EQ(count("LLC-loads"), first.at(1));
    EXPECT_EQ(count("LLC-stores"), first.at(2));
    const auto last = numbers_after(outcome.err, "LLd misses:");
    EXPECT_EQ(count("LLC-load-misses"), last.at(1));
    EXPECT_EQ(count("LLC-store-misses"), last.at(2));
    EXPECT_EQ(count("cache-references"), numbers_after(outcome.err, "LL refs:").at(0));
    EXPECT_EQ(count("cache-misses"), numbers_after(outcome.err, "LL misses:").at(0));
}

// Programs that valgrind runs to their end.
INSTANTIATE_TEST_SUITE_P(Some, ProgramUnderCachegrind,
                         testing::Values("modelled", "calls", "flags_kept", "sse", "stackless"),
                         [](const auto& test) { return test.param; });

std::vector<std::string> programs() {
    std::vector<std::string> names;
    for (const Row& row : read_table("modelled.tsv", 2)) names.push_back(row[0]);
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, ModelledProgram, testing::ValuesIn(programs()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace anyperf::engine_test
