// processes_test.cpp: the maps of processes after forks.
#include "analysis/processes.h"

#include <gtest/gtest.h>

#include "perfdata/writer/byte_writer.h"

namespace anyperf::analysis {
namespace {

using perfdata::RecordType;
using perfdata::RecordWriter;

constexpr std::uint32_t kParent = 7, kChild = 8;
constexpr std::uint64_t kStart = 0x1000;

class ProcessesTest : public testing::Test {
  public:
    void follow(RecordWriter writer, RecordType type, std::uint16_t misc) {
        const auto bytes = writer.finish();
        processes_.follow({.type = type, .misc = misc, .bytes = bytes});
    }
    void map(std::uint32_t pid) {
        RecordWriter record{RecordType::mmap, perfdata::kMiscUser};
        record.u32(pid).u32(pid).u64(kStart).u64(0x1000).u64(0).padded_text("/usr/bin/parent", sizeof(std::uint64_t));
        follow(std::move(record), RecordType::mmap, perfdata::kMiscUser);
    }
    void fork(std::uint16_t misc) {
        RecordWriter record{RecordType::fork, misc};
        record.u32(kChild).u32(kParent).u32(kChild).u32(kParent).u64(0);
        follow(std::move(record), RecordType::fork, misc);
    }
    bool has_map(std::uint32_t pid) { return processes_[processes_.space(pid)].find(kStart) != nullptr; }

  private:
    symbols::SymbolPaths paths_;
    profile::Strings strings_;
    symbols::Dsos dsos_{paths_};
    Processes processes_{strings_, dsos_};
};

TEST_F(ProcessesTest, AChildHasTheMapsOfItsParent) {
    map(kParent);
    fork(0);
    EXPECT_TRUE(has_map(kChild));
}

TEST_F(ProcessesTest, AChildThatMayHaveExecutedBeginsWithoutMaps) {
    map(kParent);
    fork(perfdata::kMiscBit13);
    EXPECT_FALSE(has_map(kChild));
    EXPECT_TRUE(has_map(kParent));
}

}  // namespace
}  // namespace anyperf::analysis
