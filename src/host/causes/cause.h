// cause.h: the input and the result of a check of a failed open. Private to host: callers use open_failure.h.
//
// A check answers one question ("is the CPU offline?") from the call, the files of the machine and, where that helps,
// the same call tried again with a change. It names a cause only if it found evidence for it, and puts the evidence
// into the text. It never guesses.
#pragma once

#include <optional>
#include <string>

#include "host/kernel/kernel_probe.h"
#include "host/process/privileges.h"
#include "host/root.h"

namespace anyperf::host::causes {

/// The call that failed, and the machine and process to judge it by. All references must outlive the check.
struct Failure {
    const OpenCall& call;
    int errno_value;    ///< what the kernel answered, positive
    std::string event;  ///< as the user wrote it, or "the event"
    const Root& root;
    const Kernel& kernel;
    Privileges privileges;  ///< of this process, read from `root`

    /// Whether any of these one-bit fields of the attr is set (attr_bits.h).
    bool has_flag(std::uint64_t flags) const { return (call.attr.flags & flags) != 0; }
    /// Whether the call may be tried again. False where `root` is another machine: its kernel can't be asked.
    bool can_retry() const { return root.is_this_machine(); }
};

/// A cause that was found, and what the user can do about it. Both become parts of anyperf::Error.
struct Cause {
    std::string cause;  ///< with the value that was read and the file it came from
    std::string fix;    ///< imperative: what to type, set or ask for
};

/// Empty if this is not the cause.
using Found = std::optional<Cause>;

}  // namespace anyperf::host::causes
