// error.h: how anyperf fails. Every call that can fail returns Result<T>. Only `main` prints.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace anyperf {

/// A failure as a person reads it: three short texts without a final period. If `what` is empty, the failure has been
/// reported already.
struct Error {
    std::string what;       ///< what failed: "cannot open cycles (perf_event_open: ENOENT)"
    std::string cause;      ///< the cause that was found, with its evidence; nothing is guessed
    std::string fix;        ///< what to type, set or ask for; empty if no fix is known
    int exit_status = 125;  ///< of the program anyperf: 125, or 126 or 127 for a command that can't be run

    bool operator==(const Error&) const = default;
};

/// A value or an Error. Result<void> succeeds without a value.
template <class T = void>
using Result = std::expected<T, Error>;

}  // namespace anyperf
