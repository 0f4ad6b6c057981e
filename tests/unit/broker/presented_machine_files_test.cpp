// presented_machine_files_test.cpp: where the presented machine's files are, and with which permissions.
#include "broker/machine/presented_machine_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace anyperf::broker {
namespace {

namespace filesystem = std::filesystem;

/// Sets TMPDIR, or removes it for a null value, and gives it its former value again at its end.
class TemporaryPlace {
  public:
    explicit TemporaryPlace(const char* value) {
        if (const char* const former = std::getenv("TMPDIR")) former_ = former;
        set(value);
    }
    ~TemporaryPlace() { set(former_ ? former_->c_str() : nullptr); }
    TemporaryPlace(const TemporaryPlace&) = delete;
    TemporaryPlace& operator=(const TemporaryPlace&) = delete;

  private:
    static void set(const char* value) {
        if (value == nullptr)
            ::unsetenv("TMPDIR");
        else
            ::setenv("TMPDIR", value, 1);
    }
    std::optional<std::string> former_;
};

/// A directory of this test that is removed at its end.
struct Scratch {
    Scratch() {
        char name[] = "/tmp/anyperf-place-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Scratch() {
        std::error_code ignored;
        filesystem::remove_all(path, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string path;
};

bool has_room_in_memory() {
    struct statvfs about{};
    constexpr std::uint64_t kNeeded = 32 << 20;
    return ::statvfs("/dev/shm", &about) == 0 && std::uint64_t{about.f_bavail} * about.f_frsize >= kNeeded;
}

constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";
constexpr const char* kType = "/sys/devices/cpu/type";

TEST(MachineFiles, AreInTheDirectoryThatTheUserHasChosen) {
    const Scratch chosen;
    const TemporaryPlace place{chosen.path.c_str()};
    MachineFiles files;
    ASSERT_TRUE(files.make(pmu::CpuModel::host, 1, false, ""));
    EXPECT_TRUE(files.root().starts_with(chosen.path + "/anyperf-"));
}

TEST(MachineFiles, AreInMemoryWhereTheUserHasChosenNothing) {
    if (!has_room_in_memory()) GTEST_SKIP() << "/dev/shm has less than 32 MB of room";
    const TemporaryPlace place{nullptr};
    MachineFiles files;
    ASSERT_TRUE(files.make(pmu::CpuModel::host, 1, false, ""));
    EXPECT_TRUE(files.root().starts_with("/dev/shm/anyperf-")) << files.root();
}

TEST(MachineFiles, AreElsewhereIfTheChosenDirectoryIsMissing) {
    const TemporaryPlace place{"/nonexistent"};
    MachineFiles files;
    ASSERT_TRUE(files.make(pmu::CpuModel::host, 1, false, ""));
    EXPECT_TRUE(filesystem::exists(files.root() + kType));
}

TEST(MachineFiles, CanBeReadByEverybodyWhateverTheUmaskIs) {
    const mode_t former = ::umask(077);
    MachineFiles files;
    const bool made = files.make(pmu::CpuModel::host, 1, false, "");
    ::umask(former);
    ASSERT_TRUE(made);
    const auto permissions = [&](const char* path) { return filesystem::status(files.root() + path).permissions(); };
    using enum filesystem::perms;
    constexpr auto kReadable = owner_read | group_read | others_read;
    EXPECT_EQ(permissions(kType), kReadable);
    EXPECT_EQ(permissions(kParanoid), kReadable | owner_write);
}

TEST(MachineFiles, LinksLeadToTheDevices) {
    MachineFiles files;
    ASSERT_TRUE(files.make(pmu::CpuModel::host, 1, false, ""));
    std::ifstream through{files.root() + "/sys/bus/event_source/devices/cpu/type"};
    int type = -1;
    through >> type;
    EXPECT_EQ(type, 4);  // PERF_TYPE_RAW
}

TEST(MachineFiles, AreGoneAtTheEnd) {
    std::string root;
    {
        MachineFiles files;
        ASSERT_TRUE(files.make(pmu::CpuModel::host, 1, false, ""));
        root = files.root();
    }
    EXPECT_FALSE(filesystem::exists(root));
}

}  // namespace
}  // namespace anyperf::broker
