// core_test.cpp: the caches and TLBs of every machine count what the plain simulator counts, access by access.
#include "models/caches/core.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "models/machines/presets.h"
#include "unit/models/plain_machine.h"

namespace anyperf::models {
namespace {

using testing::PlainMachine;

/// A machine of models::Core, with its memory.
class RealMachine {
  public:
    RealMachine(const Machine& machine, unsigned cores)
        : shared_memory_(SharedLevel::words(machine)), shared_(machine, shared_memory_.data()), counts_(cores) {
        for (unsigned i = 0; i < cores; ++i) {
            memory_.emplace_back(Core::words(machine));
            cores_.push_back(std::make_unique<Core>(machine, shared_, counts_[i], memory_.back().data()));
            EXPECT_TRUE(shared_.join(*cores_.back()));
        }
    }
    Core& core(unsigned i) { return *cores_[i]; }
    const Counts& counts(unsigned i) const { return counts_[i]; }

  private:
    std::vector<std::uint64_t> shared_memory_;
    SharedLevel shared_;
    std::vector<Counts> counts_;
    std::vector<std::vector<std::uint64_t>> memory_;
    std::vector<std::unique_ptr<Core>> cores_;
};

/// Does accesses that just hit as generated code does them: it writes down when a line was used, and its page if pages
/// are looked up, and nothing else (engine/modelling/look_up_code.h).
class GeneratedCode {
  public:
    explicit GeneratedCode(Core& core) : core_(core), path_(core.short_path()) {}

    /// False: it is to be done otherwise, and nothing has changed.
    bool does(std::uint64_t address, unsigned size, Access kind) {
        const ShortPath::Level& data = path_.data;
        const std::uint64_t line = address >> path_.line_shift;
        const std::uint64_t page = address >> Core::kPageShift;
        if (!data.cache.hinted || (address + size - 1) >> path_.line_shift != line) return false;
        const std::int64_t place = place_of(data.cache, line);
        if (word((kind == Access::load ? data.cache.loads : data.cache.stores) + place) != line) return false;
        const std::uint64_t now = word(path_.clock) + 1;
        if (!core_.looks_up_no_pages()) {
            if (!data.tlb.hinted) return false;
            const std::int64_t of_page = place_of(data.tlb, page);
            if (word(data.tlb.loads + of_page) != page) return false;
            word(data.tlb.times + of_page) = now;
        }
        word(data.cache.times + place) = word(path_.clock) = now;
        core_.count_repeated({.loads = kind == Access::store ? 0U : 1U, .stores = kind == Access::store ? 1U : 0U});
        return true;
    }

  private:
    char* at(std::int64_t offset) { return reinterpret_cast<char*>(&core_) + offset; }
    std::uint64_t& word(std::int64_t offset) { return *reinterpret_cast<std::uint64_t*>(at(offset)); }
    /// In bytes.
    std::int64_t place_of(const FirstLevel::Places& places, std::uint64_t number) {
        return std::int64_t{8} * reinterpret_cast<std::uint16_t*>(at(places.hints))[number & places.hint_mask];
    }

    Core& core_;
    ShortPath path_;
};

std::string differences(const Counts& real, const Counts& plain) {
    std::string text;
    for (const QuantityRow& row : kQuantityRows)
        if (real[row.quantity] != plain[row.quantity])
            text += std::string(row.name) + ": " + std::to_string(real[row.quantity]) + ", plain " +
                    std::to_string(plain[row.quantity]) + "\n";
    return text;
}

/// Accesses of a program: some sequential, some by a stride, some at random in a small and in a large area, with code.
struct Stream {
    explicit Stream(unsigned seed) : random(seed) {}

    std::uint64_t below(std::uint64_t limit) { return random() % limit; }

    std::uint64_t data_address() {
        switch (below(5)) {
            case 0: return 0x10000 + (sequential += 8) % 0x80000;
            case 1: return 0x200000 + (strided += 320) % 0x200000;
            case 2: return 0x7f0000 + below(0x2000);
            case 3: return 0x1000000 + below(0x4000000);
            default: return 0x40000 + below(64) * 0x1000;
        }
    }

    std::mt19937_64 random;
    std::uint64_t sequential = 0;
    std::uint64_t strided = 0;
};

/// Whether a core looks up pages (page_times.h), and how often that changes.
enum class Pages : std::uint8_t { looked_up, by_lines, in_turns };

class PageWays {
  public:
    PageWays(RealMachine& real, unsigned cores, Pages pages) : real_(real), cores_(cores), pages_(pages) {
        for (unsigned i = 0; i < cores; ++i) real.core(i).look_up_no_pages(pages == Pages::by_lines);
    }
    /// Before a step.
    void next() {
        if (pages_ != Pages::in_turns || random_() % 32 != 0) return;
        Core& core = real_.core(static_cast<unsigned>(random_() % cores_));
        core.look_up_no_pages(!core.looks_up_no_pages());
    }

  private:
    RealMachine& real_;
    unsigned cores_;
    Pages pages_;
    std::mt19937_64 random_{7};
};

void run_stream(RealMachine& real, PlainMachine& plain, unsigned cores, unsigned seed, unsigned steps, Pages pages) {
    constexpr std::array<unsigned, 6> kSizes{1, 2, 4, 8, 16, 64};
    Stream stream(seed);
    PageWays ways(real, cores, pages);
    for (unsigned i = 0; i < steps; ++i) {
        ways.next();
        const auto core = static_cast<unsigned>(stream.below(cores));
        const PageSize page = stream.below(8) == 0 ? PageSize::large : PageSize::small;
        const std::uint64_t instruction = 0x400000 + stream.below(stream.below(2) == 0 ? 0x400 : 0x100000);
        const auto length = static_cast<unsigned>(1 + stream.below(15));
        real.core(core).fetch(instruction, length, page);
        plain.fetch(core, instruction, length, page);
        const std::uint64_t address = stream.data_address();
        const unsigned size = kSizes[stream.below(kSizes.size())];
        const auto kind = static_cast<Access>(stream.below(3));
        real.core(core).access(instruction % 64, address, size, kind, page);
        plain.access(core, instruction % 64, address, size, kind, page);
    }
}

/// A machine, and how its cores look up pages.
using Way = std::tuple<Preset, Pages>;

std::string name_of(const ::testing::TestParamInfo<Way>& row) {
    constexpr std::array<const char*, 3> kPages{"looks_up_pages", "by_lines", "in_turns"};
    std::string name = std::string(std::get<Preset>(row.param).name) + "_" +
                       kPages[static_cast<std::size_t>(std::get<Pages>(row.param))];
    std::ranges::replace(name, '-', '_');
    return name;
}

auto all_pages() {
    return ::testing::Values(Pages::looked_up, Pages::by_lines, Pages::in_turns);
}

std::vector<Preset> machines_with_a_core_for_each_thread() {
    std::vector<Preset> machines(presets().begin(), presets().end());
    std::erase_if(machines, [](const Preset& preset) { return preset.machine.one_core; });
    return machines;
}

class EveryMachine : public ::testing::TestWithParam<Way> {
  protected:
    static const Machine& machine() { return std::get<Preset>(GetParam()).machine; }
    static Pages pages() { return std::get<Pages>(GetParam()); }
};
class EveryMachineOfManyCores : public EveryMachine {};

TEST_P(EveryMachine, CountsEqualThoseOfThePlainSimulator) {
    RealMachine real(machine(), 1);
    PlainMachine plain(machine(), 1);
    run_stream(real, plain, 1, 1, 12'000, pages());
    EXPECT_EQ("", differences(real.counts(0), plain.counts(0)));
    EXPECT_GT(real.counts(0)[Quantity::load_misses], 0U);
    EXPECT_GT(real.counts(0)[Quantity::store_walks], 0U);
}

TEST_P(EveryMachineOfManyCores, CountsEqualThoseOfThePlainSimulatorWhereFourCoresShareLines) {
    RealMachine real(machine(), 4);
    PlainMachine plain(machine(), 4);
    run_stream(real, plain, 4, 2, 12'000, pages());
    for (unsigned core = 0; core < 4; ++core) {
        EXPECT_EQ("", differences(real.counts(core), plain.counts(core))) << "core " << core;
        EXPECT_GT(real.counts(core)[Quantity::loads_from_modified_peer], 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryMachine,
                         ::testing::Combine(::testing::ValuesIn(presets().begin(), presets().end()), all_pages()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Presets, EveryMachineOfManyCores,
                         ::testing::Combine(::testing::ValuesIn(machines_with_a_core_for_each_thread()), all_pages()),
                         name_of);

// Some accesses to random pages, more than a first TLB has, hit a line that was used before.
TEST_P(EveryMachine, CountsEqualThoseOfThePlainSimulatorWhereGeneratedCodeDoesWhatHits) {
    RealMachine real(machine(), 1);
    PlainMachine plain(machine(), 1);
    GeneratedCode code(real.core(0));
    Stream stream(4);
    PageWays ways(real, 1, pages());
    unsigned done = 0;
    for (unsigned i = 0; i < 30'000; ++i) {
        ways.next();
        const bool near = stream.below(2) == 0;
        const std::uint64_t page = stream.below(near ? 24 : 160);
        const std::uint64_t address = 0x10000 + 4096 * page + (page * 5 + stream.below(near ? 2 : 9)) % 64 * 64;
        const auto kind = static_cast<Access>(stream.below(3));
        plain.access(0, 1, address, 8, kind, PageSize::small);
        if (code.does(address, 8, kind))
            ++done;
        else
            real.core(0).access_anew(1, address, 8, kind);
    }
    EXPECT_EQ("", differences(real.counts(0), plain.counts(0)));
    EXPECT_EQ(done > 0, real.core(0).short_path().data.cache.hinted);
}

/// A small machine with every field drawn at random.
Machine random_machine(std::mt19937_64& random) {
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    const auto cache = [&](unsigned most_set_bits) {
        const auto replacement = static_cast<Replacement>(below(3));
        const auto ways =
            replacement == Replacement::tree_plru ? 1U << below(5) : 1U + static_cast<unsigned>(below(12));
        return CacheGeometry{.sets = 1U << below(most_set_bits),
                             .ways = static_cast<std::uint16_t>(ways),
                             .line_bytes = 64,
                             .replacement = replacement};
    };
    const auto tlb = [&] {
        const auto ways = static_cast<std::uint16_t>(1 + below(6));
        return TlbGeometry{.entries = static_cast<std::uint32_t>(ways << below(4)), .ways = ways};
    };
    Machine machine;
    machine.l1_code = cache(5);
    machine.l1_data = cache(5);
    if (below(4) != 0) machine.l2 = cache(7);
    if (below(4) != 0) machine.l3 = cache(9);
    if (machine.l3.exists()) machine.inclusion = static_cast<Inclusion>(below(3));
    machine.prefetch = {.next_line = below(2) == 0, .stride = below(2) == 0};
    for (TlbGeometry* place :
         {&machine.code_tlb, &machine.code_tlb_large, &machine.data_tlb, &machine.data_tlb_large, &machine.second_tlb})
        *place = tlb();
    if (below(2) == 0) machine.second_code_tlb = tlb();
    return machine;
}

TEST(Core, CountsOfThreeHundredRandomMachinesEqualThoseOfThePlainSimulator) {
    std::mt19937_64 random(3);
    for (unsigned round = 0; round < 300; ++round) {
        const Machine machine = random_machine(random);
        RealMachine real(machine, 3);
        PlainMachine plain(machine, 3);
        run_stream(real, plain, 3, round, 500, static_cast<Pages>(round % 3));
        for (unsigned core = 0; core < 3; ++core)
            ASSERT_EQ("", differences(real.counts(core), plain.counts(core)))
                << "machine " << round << ", core " << core;
    }
}

const Machine& tiny() {
    return find_preset("tiny")->machine;
}

TEST(Core, ALoadOverTheEndOfALineIsOneReferenceOneMissAndTwoLines) {
    RealMachine machine(tiny(), 1);
    EXPECT_EQ(Source::memory, machine.core(0).access(0, 60, 8, Access::load).source);
    EXPECT_EQ(Source::l1, machine.core(0).access(0, 60, 8, Access::load).source);
    const Counts& counts = machine.counts(0);
    EXPECT_EQ(2U, counts[Quantity::load_references]);
    EXPECT_EQ(1U, counts[Quantity::load_misses]);
    EXPECT_EQ(2U, counts[Quantity::split_loads]);
    EXPECT_EQ(2U, counts[Quantity::data_lines_filled]);
}

TEST(Core, AnOperandThatIsReadAndWrittenIsOneLoad) {
    RealMachine machine(tiny(), 1);
    machine.core(0).access(0, 0, 8, Access::modify);
    EXPECT_EQ(1U, machine.counts(0)[Quantity::load_references]);
    EXPECT_EQ(0U, machine.counts(0)[Quantity::store_references]);
    EXPECT_EQ(LineState::modified, machine.core(0).state_of(0));
}

TEST(Core, TwoThreadsThatWriteToOneLineTakeItFromEachOther) {
    RealMachine machine(tiny(), 2);
    for (unsigned round = 0; round < 100; ++round) {
        machine.core(0).access(0, 0, 8, Access::modify);
        machine.core(1).access(0, 8, 8, Access::modify);
    }
    EXPECT_EQ(99U, machine.counts(0)[Quantity::loads_from_modified_peer]);
    EXPECT_EQ(100U, machine.counts(1)[Quantity::loads_from_modified_peer]);
}

TEST(Core, ThreadsThatReadOneLineKeepIt) {
    RealMachine machine(tiny(), 2);
    for (unsigned round = 0; round < 100; ++round)
        for (unsigned core = 0; core < 2; ++core) machine.core(core).access(0, 0, 8, Access::load);
    EXPECT_EQ(1U, machine.counts(0)[Quantity::load_misses]);
    EXPECT_EQ(1U, machine.counts(1)[Quantity::load_misses]);
}

TEST(Core, AChaseOverMoreLinesThanALevelHasMissesItEachTime) {
    // Tiny's L1D has 16 lines, its L2 128; a cyclic order defeats LRU completely.
    for (const auto& [lines, source] :
         {std::pair{16U, Source::l1}, {17U, Source::l2}, {128U, Source::l2}, {513U, Source::l3}}) {
        RealMachine machine(tiny(), 1);
        for (unsigned round = 0; round < 3; ++round)
            for (std::uint64_t line = 0; line < lines; ++line) machine.core(0).access(0, line * 64, 8, Access::load);
        EXPECT_EQ(source, machine.core(0).access(0, 0, 8, Access::load).source) << lines << " lines";
    }
}

TEST(Core, AtMost64CoresShareLines) {
    std::vector<std::uint64_t> memory(SharedLevel::words(tiny()));
    SharedLevel shared(tiny(), memory.data());
    RealMachine other(tiny(), 1);
    for (unsigned i = 0; i < SharedLevel::kMostCores; ++i) EXPECT_TRUE(shared.join(other.core(0)));
    EXPECT_FALSE(shared.join(other.core(0)));
    shared.part(other.core(0));
    EXPECT_TRUE(shared.join(other.core(0)));
}

}  // namespace
}  // namespace anyperf::models
