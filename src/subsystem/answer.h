// answer.h: the answer to a client: a value, or an errno with its reason. Reasons are string literals, for the log and
// for `explain`. A refused call has changed nothing.
#pragma once

#include <cerrno>
#include <cstdint>
#include <expected>
#include <string_view>
#include <utility>

#include "anyperf/error.h"

namespace anyperf::subsystem {

struct Refusal {
    int error = 0;
    std::string_view reason;
    std::uint32_t attr_size = 0;  ///< not 0: to be written to the caller's attr.size (E2BIG)

    bool operator==(const Refusal&) const = default;
};

template <class T = void>
using Answer = std::expected<T, Refusal>;

inline std::unexpected<Refusal> refuse(int error, std::string_view reason) {
    return std::unexpected(Refusal{error, reason});
}

}  // namespace anyperf::subsystem
