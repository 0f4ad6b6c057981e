// open.h: perf_event_open(2): the checks in the order of kernel/events/core.c of Linux 6.18, and the new event.
//
// A request with several mistakes gets the errno of the first check that fails. The steps are:
//
//    1. flags                                  EINVAL
//    2. attr can be read; its size             EFAULT, E2BIG      attr_copy.h
//    3. attr's content; rights it needs        EINVAL, EACCES     attr_rules.h
//    4. cgroup with pid and cpu                EINVAL
//    5. a free descriptor                      EMFILE
//    6. group_fd, pid, cpu                     EBADF, ENODEV, ESRCH, EINVAL
//    7. the PMU's init()                       ENOENT and the PMU's own
//    8. what depends on the PMU                EINVAL, EOPNOTSUPP, EOVERFLOW
//         (counters for the group, registers, AUX, stack depth, sampling, clock)
//    9. rights to the task or CPU              EACCES; ESRCH for a task outside of the run
//   10. group, shared ring, size of a read     EINVAL, E2BIG      group_rules.h, output.h
//
// Until the last check has passed the new event is a PendingEvent, which undoes itself.
#pragma once

#include "subsystem/requests.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The new event, attached to its task and group; or the first refusal.
Answer<EventIndex> open_event(World& world, const OpenRequest& request);

}  // namespace anyperf::subsystem
