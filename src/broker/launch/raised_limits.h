// raised_limits.h: resource limits that the broker raises for itself and restores for its commands. A user sets them
// for the measured programs, but the broker has a descriptor for each of their events (RLIMIT_NOFILE), and its memfd
// counts as a file (RLIMIT_FSIZE).
#pragma once

#include <sys/resource.h>

#include <array>
#include <cstddef>

#include "anyperf/error.h"

namespace anyperf::broker {

class LiftedLimits {
  public:
    /// Raises the soft limits of this process to the hard ones, and keeps the old ones. With privilege it raises the
    /// hard limit of descriptors, too, if that is low.
    static LiftedLimits lift();

    /// In a child that is to become a command: restores the old limits. Does nothing if none were raised.
    void restore() const;

  private:
    static constexpr std::array kLifted{RLIMIT_NOFILE, RLIMIT_FSIZE};

    std::array<rlimit, kLifted.size()> before_{};
    bool lifted_ = false;
};

/// Checks that the broker can have as many descriptors as it needs before the first event: without one of them it could
/// not see its command end. Error: the limit is too low.
Result<void> check_descriptors();

}  // namespace anyperf::broker
