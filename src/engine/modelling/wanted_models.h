// wanted_models.h: which models a thread's events need.
#pragma once

namespace anyperf::engine {

struct WantedModels {
    bool accesses = false;     ///< caches and TLBs
    bool predictions = false;  ///< branch predictors
    bool any() const { return accesses || predictions; }
    bool operator==(const WantedModels&) const = default;
};

}  // namespace anyperf::engine
