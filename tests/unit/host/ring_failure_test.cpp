// ring_failure_test.cpp: the cause of a ring that can't be mapped, from the limits of a machine of files.
#include "host/ring_failure.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>

#include "support/machine_files.h"

namespace anyperf::host {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kKilobyte = 1024;

/// The files of an ordinary user on a machine of four CPUs; `limit` is RLIMIT_MEMLOCK in bytes, `kilobytes` the sysctl.
MachineFiles& with_lock_limits(MachineFiles& files, const std::string& limit, std::string_view kilobytes) {
    return files.file("/proc/self/status", "Name:\tcat\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000")
        .file("/proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max locked memory         " +
                  limit + "              " + limit + "              bytes     \n")
        .file("/proc/sys/kernel/perf_event_paranoid", "2")
        .file("/proc/sys/kernel/perf_event_mlock_kb", kilobytes)
        .file("/sys/devices/system/cpu/online", "0-3");
}

TEST(RingRefusedForMemory, RaisesThePresentLimitsByTheSizeOfTheRing) {
    MachineFiles files;
    const Error error = why_ring_failed(516 * kKilobyte, EPERM, with_lock_limits(files, "8388608", "516").root());
    EXPECT_THAT(error.cause, HasSubstr("allows 516 KiB for each of 4 CPUs, RLIMIT_MEMLOCK 8192 KiB beyond that"));
    EXPECT_EQ(error.fix,
              "use smaller or fewer rings; or ulimit -l 8708; or as root: sysctl kernel.perf_event_mlock_kb=645");
}

TEST(RingRefusedForMemory, NamesTheOtherReasonsIfTheRingAloneIsAllowed) {
    MachineFiles files;
    with_lock_limits(files, "65536", "516");
    EXPECT_THAT(why_ring_failed(12 * kKilobyte, EPERM, files.root()).cause, HasSubstr("or a security module"));
    EXPECT_THAT(why_ring_failed(2065 * kKilobyte, EPERM, files.root()).cause, Not(HasSubstr("security module")));
}

TEST(RingRefusedForMemory, IsNotALimitsFaultWhereNoneApplies) {
    MachineFiles files;
    const Error error = why_ring_failed(12 * kKilobyte, EPERM, with_lock_limits(files, "unlimited", "516").root());
    EXPECT_THAT(error.cause, HasSubstr("the limits on locked memory don't apply"));
}

TEST(RingRefusedForMemory, SaysWhichLimitsCannotBeRead) {
    MachineFiles files;
    const Error error = why_ring_failed(12 * kKilobyte, EPERM, files.root());
    EXPECT_THAT(error.cause, HasSubstr("perf_event_mlock_kb allows an unknown amount for each online CPU, "
                                       "RLIMIT_MEMLOCK an unknown amount beyond that"));
    EXPECT_EQ(error.fix, "use smaller or fewer rings");
}

TEST(RingOfAnInvalidSize, IsCountedInPagesThatMmapRoundsUp) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_THAT(why_ring_failed(3 * page + 1, EINVAL).cause, HasSubstr("but 4 pages in all were requested"));
    EXPECT_THAT(why_ring_failed(2 * page + 1, EINVAL).cause, HasSubstr("already mapped with another size"));
    EXPECT_THAT(why_ring_failed(1, EINVAL).cause, HasSubstr("already mapped with another size"));
    EXPECT_THAT(why_ring_failed(0, EINVAL).cause, HasSubstr("but 0 pages in all were requested"));
}

TEST(RingOfAValidSize, MayBeRefusedBecauseItsMappingIsPrivate) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_THAT(why_ring_failed(3 * page, EINVAL).fix, HasSubstr("MAP_SHARED"));
}

}  // namespace
}  // namespace anyperf::host
