// machine_file_test.cpp: machines as JSON: presets come back as they were, and an error names the field and the limit.
#include "models/machines/machine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/machines/presets.h"

namespace anyperf::models {
namespace {

using ::testing::HasSubstr;

TEST(MachineFile, EveryPresetComesBackAsItWas) {
    for (const Preset& preset : presets()) {
        const Result<Machine> machine = parse_machine(machine_text(preset.machine), "m.json");
        ASSERT_TRUE(machine) << preset.name << ": " << machine.error().what << ": " << machine.error().cause;
        EXPECT_EQ(preset.machine, *machine) << preset.name;
    }
}

TEST(MachineFile, FieldsThatAreLeftOutComeFromTheBase) {
    const Result<Machine> machine = parse_machine(R"({"base": "zen4", "latencies": {"memory": 400}})", "m.json");
    ASSERT_TRUE(machine);
    Machine expected = find_preset("zen4")->machine;
    expected.latencies.memory = 400;
    EXPECT_EQ(expected, *machine);
}

TEST(MachineFile, AFileMayLeaveALevelOut) {
    const Result<Machine> machine = parse_machine(R"({"base": "tiny", "l3": null, "inclusion": "none"})", "m.json");
    ASSERT_TRUE(machine);
    EXPECT_FALSE(machine->l3.exists());
}

TEST(MachineFile, AFileMayHaveLinesOfAnotherLength) {
    const Result<Machine> machine = parse_machine(R"({"base": "tiny", "line_bytes": 128})", "m.json");
    ASSERT_TRUE(machine);
    EXPECT_EQ(128U, machine->l3.line_bytes);
    EXPECT_EQ(find_preset("tiny")->machine.l3.sets, machine->l3.sets);
}

struct Refusal {
    std::string text, what, cause, fix;
};

class BadMachineFile : public ::testing::TestWithParam<Refusal> {};

TEST_P(BadMachineFile, AnInvalidFileIsRefusedWithItsFieldAndLimit) {
    const Result<Machine> machine = parse_machine(GetParam().text, "m.json");
    ASSERT_FALSE(machine);
    EXPECT_EQ(GetParam().what, machine.error().what);
    EXPECT_THAT(machine.error().cause, HasSubstr(GetParam().cause));
    EXPECT_THAT(machine.error().fix, HasSubstr(GetParam().fix));
}

const std::string kCannot = "cannot use the machine m.json";

INSTANTIATE_TEST_SUITE_P(
    Refusals, BadMachineFile,
    ::testing::Values(
        Refusal{"", kCannot, "not JSON", "docs/models.md"}, Refusal{"[]", kCannot, "not an object", "docs/models.md"},
        Refusal{R"({"l4": 1})", kCannot + ": l4", "no such field", "l1_code"},
        Refusal{"{\"a\\u001b[2J\": 1}", kCannot + ": a?[2J", "no such field", "l1_code"},
        Refusal{R"({"base": "pdp11"})", kCannot + ": base", "no such machine", "zen4"},
        Refusal{R"({"line_bytes": 48})", kCannot + ": line_bytes", "48 is not a power of two", "64"},
        Refusal{R"({"line_bytes": 8})", kCannot + ": line_bytes", "it is 8", "from 16 to 256"},
        Refusal{R"({"l1_data": 5})", kCannot + ": l1_data", "not an object", "{"},
        Refusal{R"({"l1_data": null})", kCannot + ": l1_data", "null", ""},
        Refusal{R"({"l1_data": {"size": 5}})", kCannot + ": l1_data.size", "no such field", "bytes"},
        Refusal{R"({"l1_data": {"ways": 0}})", kCannot + ": l1_data.ways", "it is 0", "from 1 to 32"},
        Refusal{R"({"l1_data": {"ways": -1}})", kCannot + ": l1_data.ways", "it is -1", "from 1 to 32"},
        Refusal{R"({"l1_data": {"ways": 1e30}})", kCannot + ": l1_data.ways", "it is 1e+30", "from 1 to 32"},
        Refusal{R"({"l1_data": {"bytes": 40000}})", kCannot + ": l1_data.bytes", "40000 bytes",
                "512 times a power of two"},
        Refusal{R"({"l2": {"bytes": 99999999999}})", kCannot + ": l2.bytes", "it is 99999999999", "1073741824"},
        Refusal{R"({"l1_data": {"bytes": 49152, "ways": 12, "replacement": "tree-plru"}})",
                kCannot + ": l1_data.replacement", "there are 12", "lru"},
        Refusal{R"({"l1_data": {"replacement": "fifo"}})", kCannot + ": l1_data.replacement", "\"fifo\"", "tree-plru"},
        Refusal{R"({"data_tlb": {"entries": 100, "ways": 3}})", kCannot + ": data_tlb.entries", "100 entries",
                "3 times"},
        Refusal{R"({"prefetch": {"next_line": 1}})", kCannot + ": prefetch.next_line", "it is 1", "true or false"},
        Refusal{R"({"branches": {"table_bits": 30}})", kCannot + ": branches.table_bits", "it is 30", "from 4 to 20"},
        Refusal{R"({"branches": {"predictor": "oracle"}})", kCannot + ": branches.predictor", "oracle", "gshare, tage"},
        Refusal{R"({"latencies": {"l9": 1}})", kCannot + ": latencies.l9", "no such field", "misprediction"},
        Refusal{R"({"request": "access"})", kCannot + ": request", "cachegrind", "null"},
        Refusal{R"({"l3": null})", kCannot + ": inclusion", "no L3", "none"}));

}  // namespace
}  // namespace anyperf::models
