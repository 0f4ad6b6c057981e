// presets.h: the modelled machines that have a name.
#pragma once

#include <span>
#include <string_view>

#include "models/machine.h"

namespace anyperf::models {

struct Preset {
    std::string_view name;    ///< as --machine takes it
    std::string_view title;   ///< for lists
    std::string_view source;  ///< where the geometry and the latencies come from
    Machine machine;
};

std::span<const Preset> presets();

/// Null if no preset has that name.
const Preset* find_preset(std::string_view name);

}  // namespace anyperf::models
