// kernel_probe.h: the calls to the kernel by which the cause of a failed open is checked. It is an interface so that a
// test can play the kernel. Callers ask it only if Root::is_this_machine(): the kernel that runs here says nothing
// about a copy of another machine.
#pragma once

#include <cstdint>

#include "anyperf/attr.h"

namespace anyperf::host {

/// One call of perf_event_open(2), argument by argument.
struct OpenCall {
    abi::Attr attr;
    int pid = 0;
    int cpu = -1;
    int group_fd = -1;
    unsigned long flags = 0;

    bool operator==(const OpenCall&) const = default;
};

/// An answer is 0 or a positive errno.
class Kernel {
  public:
    virtual ~Kernel() = default;

    /// Opens the event, disabled whatever the call says, and closes it again. 0, or the errno.
    virtual int try_open(const OpenCall& call) const = 0;

    /// perf_event_open with a null attr. EFAULT if the kernel serves the call at all; otherwise the errno of whatever
    /// refuses it first (a seccomp filter, a security module, a kernel without performance events).
    virtual int try_null_attr() const = 0;

    /// sizeof(perf_event_attr) of the running kernel; 0 if it can't be found out.
    virtual std::uint32_t attr_size() const = 0;
};

/// The answer of null_attr_in_child() if a seccomp filter kills the caller. Not an errno.
inline constexpr int kKilledByFilter = 255;

/// The answer of try_null_attr() in a forked child process, because a seccomp filter may kill the caller. 0 if fork
/// fails.
int null_attr_in_child(const Kernel& kernel);

/// The kernel we run on. Lives as long as the program.
const Kernel& this_kernel();

}  // namespace anyperf::host
