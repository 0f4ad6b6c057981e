// root_test.cpp: what a Root reads. The files of another machine may be anything.
#include "host/root.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/machine_files.h"

namespace anyperf::host {
namespace {

TEST(Root, ReadsAFileWithoutItsLastNewline) {
    MachineFiles files;
    EXPECT_EQ(files.file("/proc/version", "Linux\nx").root().read("/proc/version").value(), "Linux\nx");
}

TEST(Root, ReadsRegularFilesOnlyAndDoesNotWait) {
    MachineFiles files;
    files.file("/proc/version", "").link("/proc/endless", "/dev/zero");
    ASSERT_EQ(::mkfifo(files.root().path("/proc/fifo").c_str(), 0600), 0);
    for (const char* path : {"/proc/endless", "/proc/fifo", "/proc"}) {
        const auto text = files.root().read(path);
        ASSERT_FALSE(text) << path;
        EXPECT_EQ(text.error().what, "cannot read " + files.root().path(path).string());
        EXPECT_EQ(text.error().cause, "it is not a regular file");
    }
}

TEST(Root, ReadsNoMoreThanAFileOfAMachineCanHave) {
    MachineFiles files;
    files.file("/proc/version", "");
    std::filesystem::resize_file(files.root().path("/proc/version"), std::uintmax_t{20} << 30);
    const auto text = files.root().read("/proc/version");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().cause, "it is too large");
}

}  // namespace
}  // namespace anyperf::host
