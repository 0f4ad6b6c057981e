// refusal.h: why a catalog string is not valid. The numbers are those of libpfm (pfm_strerror(3)). The reasons are
// string literals, because nothing allocates while a string is read.
#pragma once

#include <cstdint>

namespace anyperf::catalog {

/// The PFM_ERR_* values. The ABI of libpfm.so.4 fixes them.
enum class ErrorCode : std::int8_t {
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

/// The result of a step of encoding. `at` and `length` are the faulty characters in the string of the user; length 0
/// means the string as a whole.
struct [[nodiscard]] Refusal {
    ErrorCode code = ErrorCode::success;
    std::uint16_t at = 0;
    std::uint16_t length = 0;
    const char* reason = "";

    bool refused() const { return code != ErrorCode::success; }
};

inline constexpr Refusal kAccepted{};

/// The text of pfm_strerror(3) for any number.
const char* error_text(int code);

}  // namespace anyperf::catalog

/// Returns the refusal of `expression` from the calling function if there is one.
#define RETURN_IF_REFUSED(expression)                                     \
    do {                                                                  \
        const ::anyperf::catalog::Refusal anyperf_refusal = (expression); \
        if (anyperf_refusal.refused()) return anyperf_refusal;            \
    } while (false)
