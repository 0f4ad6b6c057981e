// refusal.h: why a string is not an event. Numbers are libpfm's (pfm_strerror(3)); reasons are literals, because
// nothing allocates while a string is read.
#pragma once

#include <cstdint>

namespace anyperf::catalog {

enum class Code : std::int8_t {
    success = 0,
    not_supported = -1,
    invalid = -2,
    not_initialized = -3,
    not_found = -4,
    feature_combination = -5,
    umask = -6,
    no_memory = -7,
    attribute = -8,
    attribute_value = -9,
    attribute_set = -10,
    too_many = -11,
    too_small = -12,
};

/// `at` and `length` are the characters of the user's string that are at fault; length 0: the string as a whole.
struct [[nodiscard]] Refusal {
    Code code = Code::success;
    std::uint16_t at = 0;
    std::uint16_t length = 0;
    const char* reason = "";

    bool refused() const { return code != Code::success; }
};

inline constexpr Refusal kAccepted{};

/// The text of pfm_strerror(3) for any number.
const char* code_text(int code);

}  // namespace anyperf::catalog

/// Returns the refusal of `expression` to the caller, or goes on.
#define REFUSE_IF_REFUSED(expression)                                     \
    do {                                                                  \
        const ::anyperf::catalog::Refusal anyperf_refusal = (expression); \
        if (anyperf_refusal.refused()) return anyperf_refusal;            \
    } while (false)
