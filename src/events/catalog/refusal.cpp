// refusal.cpp: see refusal.h.
#include "events/catalog/refusal.h"

#include <array>

namespace anyperf::catalog {

namespace {

// The texts are part of the interface: programs compare and print them.
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

const char* code_text(int code) {
    const auto known = static_cast<int>(kTexts.size());
    return code <= 0 && code > -known ? kTexts[static_cast<std::size_t>(-code)] : "unknown error code";
}

}  // namespace anyperf::catalog
