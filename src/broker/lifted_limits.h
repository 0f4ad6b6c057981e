// lifted_limits.h: limits that are meant for the measured programs, and that who serves them lifts for itself: each
// event of theirs is a descriptor there, and the files of the virtual machine are files (getrlimit(2)).
#pragma once

#include <sys/resource.h>

#include <array>
#include <cstddef>

namespace anyperf::broker {

class LiftedLimits {
  public:
    /// Lifts the soft limits of this process to the hard ones, and remembers them.
    static LiftedLimits lift();

    /// In a process that is to become a program. Harmless where nothing was lifted.
    void restore() const;

  private:
    static constexpr std::array kLifted{RLIMIT_NOFILE, RLIMIT_FSIZE};

    std::array<rlimit, kLifted.size()> before_{};
    bool lifted_ = false;
};

}  // namespace anyperf::broker
