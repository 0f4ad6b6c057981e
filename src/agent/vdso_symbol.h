// vdso_symbol.h: finds a function in the image of a vDSO (vdso(7)).
#pragma once

#include <cstdint>

namespace anyperf::agent {

/// The address of __vdso_clock_gettime in the vDSO at [image, end). 0 if it has none, or if `image` is 0.
std::uint64_t find_vdso_clock(std::uint64_t image, std::uint64_t end);

}  // namespace anyperf::agent
