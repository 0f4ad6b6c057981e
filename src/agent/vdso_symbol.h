// vdso_symbol.h: finds a function in the image of a vDSO (vdso(7)).
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::agent {

/// The address of the function in the vDSO at [image, end). 0 if it has none, or if `image` is 0.
std::uint64_t find_vdso_function(std::uint64_t image, std::uint64_t end, std::string_view name);

}  // namespace anyperf::agent
