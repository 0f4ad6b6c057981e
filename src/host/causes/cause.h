// cause.h: what a check of a failed open looks like. Private to host: callers use open_failure.h.
#pragma once

#include <optional>
#include <string>

#include "host/kernel.h"
#include "host/privileges.h"
#include "host/root.h"

namespace anyperf::host::causes {

/// The call that failed, and what it is judged by.
struct Failure {
    const OpenCall& call;
    int errno_value;
    std::string event;  ///< as the user wrote it, or "the event"
    const Root& root;
    const Kernel& kernel;
    Privileges privileges;

    /// Whether one-bit fields of the attr are set (attr_bits.h).
    bool has(std::uint64_t flags) const { return (call.attr.flags & flags) != 0; }
    /// Whether the call may be repeated: not where the files are another machine's.
    bool can_retry() const { return root.is_this_machine(); }
};

/// Found to be so, and what to do about it.
struct Cause {
    std::string cause;
    std::string fix;
};

/// Empty where the check doesn't hold.
using Found = std::optional<Cause>;

}  // namespace anyperf::host::causes
