// error.h: how anyperf fails. Every fallible call returns Result<T>; only `main` prints.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace anyperf {

/// A failure as a person reads it. `what` was attempted, the `cause` that was found (not guessed), and the `fix`: what
/// to type, edit or ask for. `fix` is empty where there is none.
struct Error {
    std::string what;
    std::string cause;
    std::string fix;
    int exit_status = 125;  ///< what the command line ends with: 125, or 126/127 for a command that can't be run

    bool operator==(const Error&) const = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

}  // namespace anyperf

/// The value of `expression`, or the enclosing function returns its error. Works for Result<void> too.
/// `__extension__` keeps -Wpedantic quiet; `*` instead of value() keeps exceptions out.
#define TRY(expression)                                                           \
    __extension__({                                                               \
        auto anyperf_try = (expression);                                          \
        if (!anyperf_try) return std::unexpected(std::move(anyperf_try).error()); \
        *std::move(anyperf_try);                                                  \
    })
