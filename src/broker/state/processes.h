// processes.h: the processes of the run that use events, each with a pidfd in the event loop. A process that is killed
// does not report its end itself.
#pragma once

#include <sys/types.h>

#include <map>

#include "broker/run_memory.h"
#include "broker/transport/descriptor_set.h"

namespace anyperf::broker {

/// A pidfd of the process; -1 if there is none.
OwnedFd open_pidfd(pid_t process);

class Processes {
  public:
    /// `descriptors` must outlive this object.
    explicit Processes(DescriptorSet& descriptors) : descriptors_(descriptors) {}

    /// Does nothing if the process is tracked already or has been reaped.
    void track(pid_t process);
    /// False if the process is not tracked.
    bool forget(pid_t process) { return pidfds_.erase(process) != 0; }
    /// Whether the process is tracked, and its pidfd says that it has ended.
    bool has_ended(pid_t process) const;

  private:
    DescriptorSet& descriptors_;
    std::map<pid_t, OwnedFd> pidfds_;
};

}  // namespace anyperf::broker
