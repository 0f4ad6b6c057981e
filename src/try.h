// try.h: the only macro of anyperf. It is not in include/, so that programs that use the library see no macro of ours.
#pragma once

#include <expected>
#include <utility>

#include "anyperf/error.h"

/// The value of the Result `expression`; on failure the enclosing function returns its Error. Works for Result<void>,
/// too.
/// `__extension__` silences -Wpedantic about the statement expression; `*` is used because value() may throw.
#define TRY(expression)                                                           \
    __extension__({                                                               \
        auto anyperf_try = (expression);                                          \
        if (!anyperf_try) return std::unexpected(std::move(anyperf_try).error()); \
        *std::move(anyperf_try);                                                  \
    })
