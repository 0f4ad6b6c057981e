// stack_sums_test.cpp: which samples of raw stacks are one sample of the profile.
#include "analysis/stack_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "perfdata/writer/byte_writer.h"

namespace anyperf::analysis {
namespace {

using perfdata::RecordType;
using perfdata::RecordWriter;

constexpr std::uint64_t kFirstMap = 0x10000, kSecondMap = 0x50000;  // where two processes map the file
constexpr std::uint64_t kCaller = 0x100, kCallee = 0x200;           // offsets in the file

class StackSumsTest : public testing::Test {
  public:
    StackSumsTest() {
        map(7, kFirstMap);
        map(8, kSecondMap);
        profile_.contexts.add({});
        profile_.contexts.add({.pid = 8});
    }
    void map(std::uint32_t pid, std::uint64_t start) {
        RecordWriter record{RecordType::mmap, perfdata::kMiscUser};
        record.u32(pid).u32(pid).u64(start).u64(0x1000).u64(0).padded_text("/absent", sizeof(std::uint64_t));
        const auto bytes = record.finish();
        processes_.follow({.type = RecordType::mmap, .misc = perfdata::kMiscUser, .bytes = bytes});
    }
    /// A sample of caller and callee in the process that maps the file at `start`, below the root `number`.
    void sample(std::uint64_t number, std::uint64_t start) {
        stacks_.add(stacks_.root(number),
                    std::array{RawFrame{start + kCaller, RawFrame::user}, RawFrame{start + kCallee, RawFrame::user}},
                    10);
    }
    void add(profile::ContextId of_second) {
        sums_.add(stacks_.nodes(), [&](std::uint32_t number) {
            return number == 0 ? StackSums::Root{{0}, processes_.space(7)}
                               : StackSums::Root{of_second, processes_.space(8)};
        });
        stacks_.clear();
    }

    RawStacks stacks_;
    profile::Profile profile_;

  private:
    symbols::SymbolPaths paths_;
    symbols::Dsos dsos_{paths_};
    profile::Strings strings_;
    Processes processes_{strings_, dsos_};
    StackSums sums_{profile_, processes_, dsos_, {}, true};
};

TEST_F(StackSumsTest, ProcessesWithTheSameFileShareItsStacks) {
    sample(0, kFirstMap);
    sample(1, kSecondMap);
    add({0});
    ASSERT_EQ(profile_.samples.size(), 1u);
    EXPECT_EQ(profile_.samples[0].count, 2u);
    EXPECT_EQ(profile_.samples[0].weight, 20u);
    EXPECT_EQ(profile_.stacks.size(), 2u);
    EXPECT_EQ(profile_.locations[profile_.stacks[profile_.samples[0].stack].location].address, kCallee);
}

TEST_F(StackSumsTest, ContextsAreToldApart) {
    sample(0, kFirstMap);
    sample(1, kSecondMap);
    add({1});
    EXPECT_EQ(profile_.samples.size(), 2u);
    EXPECT_EQ(profile_.stacks.size(), 2u);
}

TEST_F(StackSumsTest, ALaterTrieAddsToTheSameSamples) {
    sample(0, kFirstMap);
    add({0});
    sample(0, kFirstMap);
    stacks_.add(stacks_.root(0), std::array{RawFrame{kFirstMap + kCaller, RawFrame::user}}, 1);
    add({0});
    ASSERT_EQ(profile_.samples.size(), 2u);  // of the callee and, since the second trie, of the caller itself
    EXPECT_EQ(profile_.samples[0].weight, 20u);
    EXPECT_EQ(profile_.samples[1].weight, 1u);
    EXPECT_EQ(profile_.stacks.size(), 2u);
}

}  // namespace
}  // namespace anyperf::analysis
