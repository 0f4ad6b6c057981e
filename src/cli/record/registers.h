// registers.h: the registers that --user-regs and --intr-regs name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::cli::record {

/// What the two options have without names: the general registers.
inline constexpr std::string_view kAllRegisters = "all";

/// The bits of sample_regs_user or sample_regs_intr. `option` is for the error. Error: a name is unknown; it lists the
/// known ones.
Result<std::uint64_t> register_mask(std::string_view option, const std::string& names);

}  // namespace anyperf::cli::record
