// sampled_accesses_test.cpp: each sample of a load or a store says of it what a plain simulator says that is fed by
// single steps (step_count --accesses): the address, the level, the snoop, the TLBs' results and the latency.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/command.h"
#include "models/load_latencies.h"
#include "models/machines/presets.h"

namespace anyperf::engine_test {
namespace {

/// What is known of an access, as a sample says it.
struct Described {
    std::string pc, address, data_source;
    unsigned weight = 0;
    bool operator==(const Described&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Described& one) {
    return out << one.pc << ' ' << one.address << ' ' << one.data_source << ' ' << one.weight;
}

/// A line of `step_count --accesses`.
struct Listed {
    std::string pc, address;
    bool stores = false;
    models::AccessFacts facts;
};

std::string fixed_program(const std::string& name) {
    return ANYPERF_BINARY_DIR "/tests/programs/fixed/" + name;
}

std::vector<Listed> stepped_accesses(const std::string& program, std::string_view machine, const Scratch& scratch) {
    const auto file = scratch.path() / "accesses";
    run({.words = {std::string{ANYPERF_BINARY_DIR} + "/tests/step_count", "--models", "--accesses", file.string(),
                   "--machine", std::string(machine), "--count-to", "/dev/null", "--", fixed_program(program)},
         .directory = {}});
    std::vector<Listed> listed;
    std::ifstream stream(file);
    char kind = 0;
    unsigned source = 0, misses = 0, walks = 0;
    for (Listed one; stream >> one.pc >> one.address >> kind >> source >> misses >> walks;) {
        one.stores = kind == 's';
        one.facts = {static_cast<models::Source>(source), static_cast<std::uint8_t>(misses),
                     static_cast<std::uint8_t>(walks)};
        listed.push_back(one);
    }
    return listed;
}

/// The samples of `event` with a period of 1.
std::vector<Described> samples_of_program(const std::string& program, std::string_view machine,
                                          const std::string& event, const Scratch& scratch) {
    const std::string anyperf = std::string{ANYPERF_BINARY_DIR} + "/bin/anyperf";
    const std::string data = (scratch.path() / "perf.data").string();
    run({.words = {anyperf, "record", "--virtual", "--deterministic", "-q", "--machine", std::string(machine), "-e",
                   event, "-c", "1", "-m", "64M", "-d", "-W", "-o", data, "--", fixed_program(program)},
         .directory = {}});
    const Outcome text =
        run({.words = {anyperf, "script", "-i", data, "-F", "ip,addr,data_src,weight"}, .directory = {}});
    std::vector<Described> samples;
    std::stringstream lines(text.out);
    for (std::string line; std::getline(lines, line);) {
        const auto from = line.find("|OP");
        const auto to = line.find("|LCK");
        const auto end = line.find("N/A", to);  // of "|BLK  N/A"
        if (from == std::string::npos || to == std::string::npos || end == std::string::npos) continue;
        Described one;
        std::stringstream before(line.substr(0, from)), after(line.substr(end + 3));
        before >> one.address;
        one.data_source = line.substr(from, to - from);
        after >> one.weight >> one.pc;
        samples.push_back(one);
    }
    return samples;
}

/// The text of DATA_SRC, without what is the same for all of these accesses.
std::string expected_source(const Listed& one) {
    static constexpr std::array<std::string_view, models::kSources> kLevels{
        "L1 or L1 hit|SNP None", "L2 or L2 hit|SNP None", "L3 or L3 hit|SNP None",
        "L3 or L3 hit|SNP Hit",  "L3 or L3 hit|SNP HitM", "Local RAM or RAM hit|SNP None or Miss"};
    const auto number = static_cast<std::size_t>(one.facts.source);
    std::string text = one.stores ? "|OP STORE|LVL " : "|OP LOAD|LVL ";
    const std::string_view row = kLevels.at(number);
    if (one.stores && number != 0)
        text += "L1 or N/A miss" + std::string(row.substr(row.find("|SNP")));
    else
        text += row;
    text += one.facts.page_walks != 0 ? "|TLB L2 miss" : one.facts.tlb_misses != 0 ? "|TLB L2 hit" : "|TLB L1 hit";
    return text;
}

std::vector<Described> expected_samples(const std::vector<Listed>& listed, const models::Machine& machine, bool stores,
                                        unsigned least) {
    std::vector<Described> all;
    for (const Listed& one : listed) {
        const unsigned cycles = one.facts.latency(machine.latencies);
        if (one.stores == stores && cycles >= least) all.push_back({one.pc, one.address, expected_source(one), cycles});
    }
    return all;
}

/// Removes the samples of instructions that the simulator does not list, which are string instructions.
void keep_listed(std::vector<Described>& samples, const std::vector<Listed>& listed) {
    std::set<std::string> known;
    for (const Listed& one : listed) known.insert(one.pc);
    std::erase_if(samples, [&](const Described& one) { return !known.contains(one.pc); });
}

void compare(const std::vector<Described>& samples, const std::vector<Described>& accesses) {
    ASSERT_FALSE(accesses.empty());
    for (std::size_t i = 0; i < std::min(samples.size(), accesses.size()); ++i) {
        ASSERT_EQ(samples[i], accesses[i]) << "sample " << i;
    }
    EXPECT_EQ(samples.size(), accesses.size());
}

class SampledAccesses : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
        const auto& all = models::presets();
        preset_ = &*std::ranges::find(all, GetParam(), &models::Preset::name);
        listed_ = stepped_accesses("modelled", GetParam(), scratch_);
        ASSERT_FALSE(listed_.empty()) << "the program could not be stepped";
    }
    std::vector<Described> samples_of(const std::string& event) {
        std::vector<Described> samples = samples_of_program("modelled", GetParam(), event, scratch_);
        keep_listed(samples, listed_);
        return samples;
    }
    Scratch scratch_;
    const models::Preset* preset_ = nullptr;
    std::vector<Listed> listed_;
};

TEST_P(SampledAccesses, OfLoadsAreWhatASimulatorSays) {
    compare(samples_of("r81d0:pp"), expected_samples(listed_, preset_->machine, false, 0));
}

TEST_P(SampledAccesses, OfStoresAreWhatASimulatorSays) {
    compare(samples_of("r82d0:pp"), expected_samples(listed_, preset_->machine, true, 0));
}

TEST_P(SampledAccesses, OfSlowLoadsAreThoseThatTakeAsLong) {
    for (const unsigned least : {8u, 30u, 100u})
        compare(samples_of("cpu/event=0xcd,umask=1,ldlat=" + std::to_string(least) + "/pp"),
                expected_samples(listed_, preset_->machine, false, least));
}

INSTANTIATE_TEST_SUITE_P(Some, SampledAccesses, testing::Values("skx", "zen4", "tiny"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace anyperf::engine_test
