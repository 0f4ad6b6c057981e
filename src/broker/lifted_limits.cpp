// lifted_limits.cpp: see lifted_limits.h.
#include "broker/lifted_limits.h"

namespace anyperf::broker {

LiftedLimits LiftedLimits::lift() {
    LiftedLimits limits;
    for (std::size_t i = 0; i < kLifted.size(); ++i) {
        ::getrlimit(kLifted[i], &limits.before_[i]);
        const rlimit lifted{limits.before_[i].rlim_max, limits.before_[i].rlim_max};
        ::setrlimit(kLifted[i], &lifted);
    }
    limits.lifted_ = true;
    return limits;
}

void LiftedLimits::restore() const {
    for (std::size_t i = 0; lifted_ && i < kLifted.size(); ++i) ::setrlimit(kLifted[i], &before_[i]);
}

}  // namespace anyperf::broker
