// raised_limits.h: resource limits that the broker raises for itself. A user sets them for the measured programs, but
// the broker has a descriptor for each of their events (RLIMIT_NOFILE), and its memfd counts as a file (RLIMIT_FSIZE).
// These two are restored for the commands. The engine in each program reserves far more memory than it uses (RLIMIT_AS,
// RLIMIT_DATA). These two stay raised, and the engine enforces the old values (run/kept_limits.h).
#pragma once

#include <sys/resource.h>

#include <array>
#include <cstddef>

#include "anyperf/error.h"
#include "run/kept_limits.h"

namespace anyperf::broker {

class LiftedLimits {
  public:
    /// Raises the soft limits of this process to the hard ones, and remembers the old ones. With privilege, also raises
    /// a low hard limit of descriptors and removes the limits on memory.
    static LiftedLimits lift();

    /// Restores the old limits, except those on memory, in a child that is to become a command. Does nothing if none
    /// were raised.
    void restore() const;

    /// The old values of the limits on memory that were raised: the programs are to keep to them.
    const run::KeptLimits& memory() const { return memory_; }

  private:
    static constexpr std::array kLifted{RLIMIT_NOFILE, RLIMIT_FSIZE};

    std::array<rlimit, kLifted.size()> before_{};
    run::KeptLimits memory_{};
    bool lifted_ = false;
};

/// Checks that the broker can have the descriptors that it needs before the first event: without one of them it could
/// not see the end of its command. Error: the limit is too low.
Result<void> check_descriptors();

}  // namespace anyperf::broker
