// ring_failure_test.cpp: if the running kernel refuses to map a ring, the message names the cause.
#include "host/ring_failure.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "host/child.h"

namespace anyperf::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Tries to map a ring of `bytes`. "" if it is mapped, else the message of why_ring_failed().
std::string ring_failure(std::size_t bytes) {
    const int fd = open_event(dummy());
    void* ring = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    ::close(fd);
    if (ring != MAP_FAILED) return "";
    const Error found = why_ring_failed(bytes, error);
    return found.what + " CAUSE: " + found.cause + " FIX: " + found.fix;
}

TEST(RingFailure, WithoutLockableMemoryNamesTheLimits) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become nobody";
    const std::string found = in_child([] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_MEMLOCK, &none);
        become_nobody();
        return ring_failure((1 + (1 << 14)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
    });
    EXPECT_THAT(found, AllOf(HasSubstr("(mmap: EPERM)"), HasSubstr("perf_event_mlock_kb allows"),
                             HasSubstr("RLIMIT_MEMLOCK 0 KiB")));
}

TEST(RingFailure, OfAnInvalidSizeNamesIt) {
    EXPECT_THAT(ring_failure(4 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
                HasSubstr("but 4 pages in all were requested"));
}

}  // namespace
}  // namespace anyperf::host
