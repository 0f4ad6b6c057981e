// kernel_probe.cpp: the calls to the kernel that runs this program. Only their answers matter: an event that opens is
// closed at once.
//
// Three calls are useful:
// - with a null attr: the kernel reads the attr first, after the flags (and, before Linux 6.2, after it has asked the
//   security module). So EFAULT comes from the kernel itself, and any other errno from a seccomp filter, a security
//   module or a distribution's patch;
// - with a size of 1: the kernel answers E2BIG and writes the size of its own attr back;
// - the call that has failed, with something left out: the errno shows whether that was the reason.
#include "host/kernel/kernel_probe.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace anyperf::host {

namespace {

constexpr std::uint64_t kDisabled = 1;  // attr.flags bit 0

class ThisKernel final : public Kernel {
  public:
    int try_open(const OpenCall& call) const override {
        abi::Attr attr = call.attr;
        // Disabled, so that the try measures nothing and an event with attr.sigtrap can't signal this process. No check
        // of the kernel depends on this bit.
        attr.flags |= kDisabled;
        const long fd = open(&attr, call.pid, call.cpu, call.group_fd, call.flags);
        if (fd < 0) return errno;
        ::close(static_cast<int>(fd));
        return 0;
    }

    int try_null_attr() const override {
        const long fd = open(nullptr, 0, -1, -1, 0);
        if (fd < 0) return errno;
        ::close(static_cast<int>(fd));
        return 0;
    }

    std::uint32_t attr_size() const override {
        abi::Attr attr;
        attr.size = 1;  // smaller than any attr
        const long fd = open(&attr, 0, -1, -1, 0);
        if (fd >= 0) ::close(static_cast<int>(fd));
        return fd < 0 && errno == E2BIG ? attr.size : 0;
    }

  private:
    static long open(abi::Attr* attr, int pid, int cpu, int group_fd, unsigned long flags) {
        return ::syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
    }
};

}  // namespace

// A seccomp filter may kill instead of answering (SECCOMP_RET_KILL_PROCESS), so a child makes the call. Its exit status
// is the errno, which fits into eight bits.
int null_attr_in_child(const Kernel& kernel) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(kernel.try_null_attr());
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kKilledByFilter;
}

const Kernel& this_kernel() {
    static const ThisKernel kernel;
    return kernel;
}

}  // namespace anyperf::host
