// processes.cpp: a pidfd becomes readable when its process has ended (pidfd_open(2)).
#include "broker/state/processes.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace anyperf::broker {

OwnedFd open_pidfd(pid_t process) {
    return OwnedFd{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))};
}

void Processes::track(pid_t process) {
    if (pidfds_.contains(process)) return;
    OwnedFd fd = open_pidfd(process);
    if (!fd) return;
    descriptors_.add(fd.get(), DescriptorKind::process, static_cast<std::uint32_t>(process));
    pidfds_[process] = std::move(fd);
}

bool Processes::has_ended(pid_t process) const {
    const auto known = pidfds_.find(process);
    if (known == pidfds_.end()) return false;
    pollfd about{known->second.get(), POLLIN, 0};
    return ::poll(&about, 1, 0) == 1;
}

}  // namespace anyperf::broker
