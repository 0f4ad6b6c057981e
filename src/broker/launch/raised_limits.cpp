// raised_limits.cpp: the broker needs a descriptor for each event (RLIMIT_NOFILE) and a file as large as the run's
// memory (RLIMIT_FSIZE), whatever limits the user has set for the command.
#include "broker/launch/raised_limits.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "broker/run_memory.h"

namespace anyperf::broker {

namespace {

constexpr rlim_t kDescriptors = 4096;  ///< one for each event, and some for the broker itself
constexpr std::size_t kNeededDescriptors =
    10;  ///< sockets, epoll, eventfd, pidfd, and files that are open for a moment

/// Removes a limit on memory if this process has the privilege; otherwise raises the soft limit to the hard one. If
/// either succeeds, adds the old limit to `kept`.
void lift_memory(__rlimit_resource resource, run::KeptLimit which, run::KeptLimits& kept) {
    rlimit before{};
    if (::getrlimit(resource, &before) != 0 || before.rlim_cur == RLIM_INFINITY) return;
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    const rlimit hard{before.rlim_max, before.rlim_max};
    if (::setrlimit(resource, &none) != 0 && (before.rlim_cur == before.rlim_max || ::setrlimit(resource, &hard) != 0))
        return;
    kept.set(which, {before.rlim_cur, before.rlim_max});
}

}  // namespace

// The broker raises its soft limits to the hard ones; with privilege it also raises a hard limit of descriptors below
// kDescriptors. The command gets the old limits back (restore()), because programs can read their limits and act on
// them.
LiftedLimits LiftedLimits::lift() {
    LiftedLimits limits;
    for (std::size_t i = 0; i < kLifted.size(); ++i) {
        ::getrlimit(kLifted[i], &limits.before_[i]);
        const rlim_t hard = limits.before_[i].rlim_max;
        const rlim_t wanted = kLifted[i] == RLIMIT_NOFILE ? std::max(hard, kDescriptors) : hard;
        const rlimit with_privilege{wanted, wanted};
        const rlimit lifted{hard, hard};
        if (::setrlimit(kLifted[i], &with_privilege) != 0) ::setrlimit(kLifted[i], &lifted);
    }
    lift_memory(RLIMIT_AS, run::KeptLimit::address_space, limits.memory_);
    lift_memory(RLIMIT_DATA, run::KeptLimit::data, limits.memory_);
    limits.lifted_ = true;
    return limits;
}

void LiftedLimits::restore() const {
    for (std::size_t i = 0; lifted_ && i < kLifted.size(); ++i) ::setrlimit(kLifted[i], &before_[i]);
}

// Opens descriptors instead of looking at RLIMIT_NOFILE, because the limit of the system (fs.file-max) may be reached
// first.
Result<void> check_descriptors() {
    std::array<OwnedFd, kNeededDescriptors> taken;
    for (OwnedFd& fd : taken) {
        fd = OwnedFd{::epoll_create1(EPOLL_CLOEXEC)};
        if (!fd)
            return std::unexpected(Error{"cannot start a run",
                                         "no descriptor left: " + std::generic_category().message(errno),
                                         "raise the limit on open files (ulimit -n)"});
    }
    return {};
}

}  // namespace anyperf::broker
