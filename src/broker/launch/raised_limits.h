// raised_limits.h: resource limits that the broker raises for itself. A user sets them for the measured programs, but
// the broker has a descriptor for each of their events (RLIMIT_NOFILE), and its memfd counts as a file (RLIMIT_FSIZE):
// these are restored for the commands. The engine in each program reserves far more memory than it uses (RLIMIT_AS,
// RLIMIT_DATA): these stay raised, and the engine enforces what they were (run/kept_limits.h).
#pragma once

#include <sys/resource.h>

#include <array>
#include <cstddef>

#include "anyperf/error.h"
#include "run/kept_limits.h"

namespace anyperf::broker {

class LiftedLimits {
  public:
    /// Raises the soft limits of this process to the hard ones, and keeps the old ones. With privilege it raises the
    /// hard limit of descriptors, too, if that is low.
    static LiftedLimits lift();

    /// In a child that is to become a command: restores the old limits but those on memory. Does nothing if none were
    /// raised.
    void restore() const;

    /// The limits on memory that were raised, as they were: the programs are to keep them.
    const run::KeptLimits& memory() const { return memory_; }

  private:
    static constexpr std::array kLifted{RLIMIT_NOFILE, RLIMIT_FSIZE};

    std::array<rlimit, kLifted.size()> before_{};
    run::KeptLimits memory_{};
    bool lifted_ = false;
};

/// Checks that the broker can have as many descriptors as it needs before the first event: without one of them it could
/// not see its command end. Error: the limit is too low.
Result<void> check_descriptors();

}  // namespace anyperf::broker
