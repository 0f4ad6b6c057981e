// made_files_test.cpp: a program of a run can write the table of files in the run's memory at any moment. The broker,
// which looks files up there, stays within the table and comes back, whatever it finds.
#include "run/made_files.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace anyperf::run {
namespace {

/// A table between pages that can't be accessed.
class GuardedFiles {
  public:
    GuardedFiles() {
        start_ = static_cast<char*>(
            ::mmap(nullptr, kBytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        EXPECT_EQ(::mprotect(start_ + kGuard, kBytes, PROT_READ | PROT_WRITE), 0);
    }
    GuardedFiles(const GuardedFiles&) = delete;
    GuardedFiles& operator=(const GuardedFiles&) = delete;
    ~GuardedFiles() { ::munmap(start_, kBytes + 2 * kGuard); }

    MadeFiles& operator*() const { return *reinterpret_cast<MadeFiles*>(start_ + kGuard); }
    MadeFiles* operator->() const { return &**this; }

  private:
    static constexpr std::size_t kBytes = (sizeof(MadeFiles) + 4095) / 4096 * 4096;
    /// More than any index of 32 bits can reach.
    static constexpr std::size_t kGuard = std::size_t{1} << 38;
    char* start_;
};

TEST(MadeFiles, StayInTheTableWhateverAProgramHasWritten) {
    std::mt19937_64 random{1};
    const GuardedFiles files;
    for (int round = 0; round < 20; ++round) {
        auto* const words = reinterpret_cast<std::uint64_t*>(&*files);
        const std::uint64_t mask = round % 4 == 0 ? ~std::uint64_t{0} : random();
        for (std::size_t i = 0; i < sizeof(MadeFiles) / sizeof *words; ++i)
            words[i] = round % 3 == 0 ? mask : random() & mask;
        for (std::uint64_t file = 0; file < 3000; ++file) {
            const std::uint64_t device = random() % 4;
            files->inode_in_record(device, random());
            files->shown_device(device);
            if (const MadeFile found = files->find(device, file, false)) {
                found.device();
                found.times();
            }
            if (const MadeFile entry = files->at(static_cast<std::uint32_t>(random()))) entry.shown_inode();
        }
    }
}

TEST(MadeFiles, StayInTheTableWhileAProgramWritesTheNumberOfEntries) {
    const GuardedFiles files;
    std::atomic<bool> ends = false;
    std::thread program{[&] {
        while (!ends) {
            __atomic_store_n(&files->entries, ~0u, __ATOMIC_RELAXED);
            __atomic_store_n(&files->entries, 0u, __ATOMIC_RELAXED);
        }
    }};
    for (std::uint64_t inode = 1; inode < 300'000; ++inode) files->inode_in_record(1, inode * 17);
    ends = true;
    program.join();
}

}  // namespace
}  // namespace anyperf::run
