// canonical.h: the string that says everything about an encoding, and reads back to it.
#pragma once

#include <cstddef>
#include <span>

#include "events/catalog/codes.h"
#include "events/catalog/perf_layer.h"

namespace anyperf::catalog {

/// Enough for any event of the facts: prefix, name, 512 masks at most in theory, some ten in practice.
inline constexpr std::size_t kCanonicalBytes = 8192;

/// Writes "PMU::EVENT:MASK…:MODIFIER=VALUE…" without a NUL; its length, 0 where it does not fit. `attr`: what the
/// fields were applied to, because period, precise and excl are printed as they then are; nullptr: the PMU's own layer.
/// Sorts codes.masks.
std::size_t write_canonical(const Request& request, Codes& codes, const PerfFields& perf, const abi::Attr* attr,
                            std::span<char> out);

}  // namespace anyperf::catalog
