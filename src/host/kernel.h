// kernel.h: the calls by which the cause of a failed open is checked. An interface, so that a test can be the kernel
// and a fixture machine has none.
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

class Kernel {
  public:
    virtual ~Kernel() = default;

    /// Opens the event, disabled, and closes it again: 0, or the errno.
    virtual int try_open(const OpenCall& call) const = 0;

    /// perf_event_open with a null attr: EFAULT where the kernel serves the call at all, else the errno of what stands
    /// before it (a seccomp filter, a security module, a kernel without perf events).
    virtual int try_null_attr() const = 0;

    /// What the kernel takes sizeof(perf_event_attr) to be; 0 where it doesn't tell.
    virtual std::uint32_t attr_size() const = 0;
};

/// In place of an errno: a seccomp filter kills who calls.
inline constexpr int kKilledByFilter = 255;

/// What try_null_attr() answers, asked in a forked child, since a filter may kill the caller. 0 where fork fails.
int null_attr_in_child(const Kernel& kernel);

/// The kernel we run on. Lives as long as the program.
const Kernel& this_kernel();

}  // namespace anyperf::host
