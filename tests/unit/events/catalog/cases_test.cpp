// cases_test.cpp: event strings encode as by libpfm4 (June 2026), whose answers are the rows of cases.tsv:
//   force           the PMU that LIBPFM_FORCE_PMU names, or -
//   class           what the case is about; not read here
//   os              N, P, X: PFM_OS_NONE, PFM_OS_PERF_EVENT, PFM_OS_PERF_EVENT_EXT
//   plm, attr_size  the default privilege levels, and attr.size, of the call
//   string          the event
//   ret             0, or the error
//   result          the codes, or attr as attr_text() writes it
//   fstr            the canonical string
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "events/catalog/encoding/encoding.h"
#include "unit/events/catalog/other_machine.h"

namespace anyperf::catalog {
namespace {

struct Case {
    int line = 0;
    std::string force, os, text, result, canonical;
    unsigned plm = 0;
    std::uint32_t attr_size = 0;
    int code = 0;
};

std::vector<Case> read_cases() {
    std::ifstream file{ANYPERF_SOURCE_DIR "/tests/unit/events/catalog/cases.tsv"};
    std::vector<Case> cases;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.starts_with('#')) continue;
        std::istringstream cells{line};
        std::vector<std::string> cell(9);
        for (std::string& text : cell) std::getline(cells, text, '\t');
        cases.push_back({number, cell[0] == "-" ? "" : cell[0], cell[2], cell[5], cell[7], cell[8],
                         static_cast<unsigned>(std::stoul(cell[3])),
                         cell[4] == "-" ? 0 : static_cast<std::uint32_t>(std::stoul(cell[4])), std::stoi(cell[6])});
    }
    return cases;
}

Os os_of(const Case& asked) {
    return asked.os == "N" ? Os::none : asked.os == "P" ? Os::perf : Os::perf_ext;
}

std::string codes_text(const Codes& codes) {
    std::string text;
    for (std::size_t i = 0; i < codes.count; ++i) text += fmt::format("{}{:#x}", i == 0 ? "" : ",", codes.codes[i]);
    return text;
}

std::string type_text(std::uint32_t type, const OtherMachine& machine) {
    for (const auto& [name, number] : machine.types())
        if (number == type) return "@" + name;
    return std::to_string(type);
}

/// "type config config1 config2 excludes precise_ip exclusive pinned freq period cpu size"
std::string attr_text(const PerfFields& fields, std::uint32_t size, const OtherMachine& machine) {
    abi::Attr attr;
    fields.apply(attr);
    if (size < 72) attr.config2 = 0;  // the attr ends before it
    std::string excludes;
    for (const auto& [letter, bit] : {std::pair{'u', 4}, {'k', 5}, {'h', 6}, {'H', 19}, {'G', 20}})
        if (((attr.flags >> bit) & 1) != 0) excludes += letter;
    const auto flag = [&](int bit, int mask) { return (attr.flags >> bit) & static_cast<unsigned>(mask); };
    return fmt::format("{} {:#x} {:#x} {:#x} {}- {} {} {} {} {} {} {}", type_text(attr.type, machine), attr.config,
                       attr.config1, attr.config2, excludes, flag(15, 3), flag(3, 1), flag(2, 1), flag(10, 1),
                       attr.sample_period, fields.cpu, size);
}

struct Answer {
    int code = 0;
    std::string result, canonical;
};

Answer answer(const Case& asked, const MachinePmus& machine, const OtherMachine& files) {
    Encoding encoding{machine};
    const Refusal refusal = encode(asked.text, asked.plm, os_of(asked), encoding);
    if (refusal.refused()) return {static_cast<int>(refusal.code), "-", "-"};
    std::string canonical(kCanonicalBytes, '\0');
    abi::Attr attr;
    if (asked.os != "N") encoding.perf.apply(attr);
    canonical.resize(encoding.canonical(canonical, &attr));
    return {0, asked.os == "N" ? codes_text(encoding.codes) : attr_text(encoding.perf, asked.attr_size, files),
            canonical.empty() ? "-" : canonical};
}

TEST(EventStrings, EncodeAsByLibpfm4) {
    OtherMachine files;
    files.add_every_pmu();
    std::map<std::string, std::unique_ptr<MachinePmus>> machines;
    const std::vector<Case> cases = read_cases();
    ASSERT_GT(cases.size(), 1500U);
    for (const Case& asked : cases) {
        std::unique_ptr<MachinePmus>& machine = machines[asked.force];
        if (!machine)
            machine = std::make_unique<MachinePmus>(DetectionOptions{
                .root = files.directory(), .force = asked.force, .encode_inactive = asked.force.empty()});
        const Answer ours = answer(asked, *machine, files);
        const std::string where =
            fmt::format("cases.tsv:{}: {} {} plm {}", asked.line, asked.os, asked.text, asked.plm);
        EXPECT_EQ(ours.code, asked.code) << where;
        if (ours.code != asked.code) continue;
        EXPECT_EQ(ours.result, asked.result) << where;
        EXPECT_EQ(ours.canonical, asked.canonical) << where;
    }
}

}  // namespace
}  // namespace anyperf::catalog
