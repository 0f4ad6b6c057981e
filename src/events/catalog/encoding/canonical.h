// canonical.h: the canonical string of an encoding: it names everything explicitly, and reading it gives the same
// encoding. libpfm returns it as `fstr`.
#pragma once

#include <cstddef>
#include <span>

#include "events/catalog/encoding/codes.h"
#include "events/catalog/encoding/perf_layer.h"

namespace anyperf::catalog {

/// Enough for any event: the prefix, the name and, in practice, some ten masks.
inline constexpr std::size_t kCanonicalBytes = 8192;

/// Writes "PMU::EVENT:MASK…:MODIFIER=VALUE…" without a NUL, and returns its length, or 0 if it does not fit. `attr` is
/// the structure that `perf` was applied to; period, precise and excl are printed from it. nullptr: the layer Os::none.
/// Sorts codes.masks.
std::size_t write_canonical(const Request& request, Codes& codes, const PerfFields& perf, const abi::Attr* attr,
                            std::span<char> out);

}  // namespace anyperf::catalog
