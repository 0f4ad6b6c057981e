#include "recording/existing/processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "perfdata/side_band.h"

namespace anyperf::recording {
namespace {

/// A machine with the files that a test writes.
class TestMachine {
  public:
    TestMachine() : directory_{::testing::TempDir() + "machine." + std::to_string(::getpid())} {}
    ~TestMachine() { std::filesystem::remove_all(directory_); }
    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file{directory_ + path};
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text;
    }
    host::Root root() const { return host::Root{directory_}; }

  private:
    std::string directory_;
};

/// Keeps the records, without their sample ids.
struct Records {
    static constexpr std::size_t kTrailer = 16;

    RecordSink sink() {
        return [this](perfdata::Bytes record) {
            records.emplace_back(record.begin(), record.end() - static_cast<std::ptrdiff_t>(kTrailer));
        };
    }
    std::vector<std::vector<std::byte>> records;
};

const SynthesisOptions kOptions{.trailer_bytes = Records::kTrailer, .data_maps = false};

perfdata::RecordType type_of(const std::vector<std::byte>& record) {
    return perfdata::load<perfdata::RecordHeader>(record.data()).type;
}

TEST(ExistingProcesses, AProcessHasItsThreadsNamesAndExecutableMaps) {
    const TestMachine machine;
    machine.write("/proc/70/status", "Name:\tmain\nTgid:\t70\nPid:\t70\nPPid:\t1\n");
    machine.write("/proc/70/task/70/comm", "main thread\n");
    machine.write("/proc/70/task/71/comm", "worker\n");
    machine.write("/proc/70/maps",
                  "00400000-00401000 r-xp 00001000 08:02 173521                     /usr/bin/a program\n"
                  "00401000-00402000 rw-p 00000000 00:00 0\n"
                  "7f0000000000-7f0000001000 r-xp 00000000 00:00 0\n"
                  "not a map\n");
    Records got;
    put_process(machine.root(), 70, kOptions, got.sink());
    using perfdata::RecordType;
    std::vector<RecordType> types;
    types.reserve(got.records.size());
    for (const auto& record : got.records) types.push_back(type_of(record));
    EXPECT_EQ(types, (std::vector{RecordType::fork, RecordType::comm, RecordType::mmap2, RecordType::mmap2,
                                  RecordType::fork, RecordType::comm}));
    EXPECT_EQ(perfdata::read_comm(got.records[1])->comm, "main thread");
    const auto map = perfdata::read_map(got.records[2]);
    EXPECT_EQ(map->start, 0x400000U);
    EXPECT_EQ(map->size, 0x1000U);
    EXPECT_EQ(map->file_offset, 0x1000U);
    EXPECT_EQ(map->path, "/usr/bin/a program");
    EXPECT_EQ(perfdata::read_map(got.records[3])->path, "//anon");
    const auto thread = perfdata::read_task(got.records[4]);
    EXPECT_EQ(thread->pid, 70U);
    EXPECT_EQ(thread->tid, 71U);
    EXPECT_EQ(thread->parent_pid, 70U);
}

TEST(ExistingProcesses, AProcessThatHasEndedHasNoRecords) {
    const TestMachine machine;
    Records got;
    put_process(machine.root(), 70, kOptions, got.sink());
    EXPECT_TRUE(got.records.empty());
    EXPECT_EQ(process_of(machine.root(), 70), 0);
}

TEST(ExistingProcesses, TheKernelHasItsTextAndModules) {
    const TestMachine machine;
    machine.write("/proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff82000000 T _etext\n");
    machine.write("/proc/modules", "loop 32768 0 - Live 0xffffffffc0000000\n");
    Records got;
    EXPECT_TRUE(put_kernel(machine.root(), kOptions, got.sink()));
    ASSERT_EQ(got.records.size(), 2U);
    const auto text = perfdata::read_map(got.records[0]);
    EXPECT_EQ(text->path, "[kernel.kallsyms]_text");
    EXPECT_EQ(text->size, 0x1000000U);
    EXPECT_TRUE(text->kernel);
    EXPECT_EQ(perfdata::read_map(got.records[1])->path, "[loop]");
}

TEST(ExistingProcesses, AKernelThatHidesItsAddressesIsReported) {
    const TestMachine machine;
    machine.write("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _stext\n");
    Records got;
    EXPECT_FALSE(put_kernel(machine.root(), kOptions, got.sink()));
    EXPECT_TRUE(got.records.empty());
}

}  // namespace
}  // namespace anyperf::recording
