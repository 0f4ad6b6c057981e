#include "events/catalog/encoding/refusal.h"

#include <array>

namespace anyperf::catalog {

namespace {

// These texts are part of the interface of libpfm: programs compare and print them.
constexpr std::array kTexts{
    "success",
    "not supported",
    "invalid parameters",
    "pfmlib not initialized",
    "event not found",
    "invalid combination of model specific features",
    "invalid or missing unit mask",
    "out of memory",
    "invalid event attribute",
    "invalid event attribute value",
    "attribute value already set",
    "too many parameters",
    "parameter is too small",
};

}  // namespace

const char* error_text(int code) {
    const auto known = static_cast<int>(kTexts.size());
    return code <= 0 && code > -known ? kTexts[static_cast<std::size_t>(-code)] : "unknown error code";
}

}  // namespace anyperf::catalog
