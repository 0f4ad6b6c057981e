// open_event.h: makes the perf_event_open calls for counting. It builds the attr from an event and its role in a group,
// tries again without features that older kernels refuse, and explains a refusal.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "anyperf/group.h"
#include "host/kernel/kernel_probe.h"

namespace anyperf::counting {

/// What the call needs beyond what the event string says.
struct Role {
    bool leader = true;  ///< of its group; an event that is opened alone is a leader, too
    OpenOptions options;
    std::uint64_t read_format = 0;
};

/// The read_formats to try for a group leader, best first. Kernels before 6.0 refuse PERF_FORMAT_LOST; before 4.13 they
/// refuse PERF_FORMAT_GROUP with `inherit` (perf_event_alloc(), kernel/events/core.c).
std::span<const std::uint64_t> read_formats(bool inherit);

/// The call for the event. Its attr points into `event`, which must not move or change until the call is made.
host::OpenCall call_for(const events::Event& event, const Role& role, Place place, int group_fd);

/// A call that the kernel refused. The attr points into the event.
struct RefusedOpen {
    int errno_value = 0;  ///< positive
    host::OpenCall call;  ///< as it was tried last, with the precision and the group that were refused
};

/// The member of a group that the kernel refused.
struct RefusedMember {
    std::size_t event = 0;  ///< index in the group
    RefusedOpen open;
    std::vector<EventFd> before;  ///< the members before it, still open: the cause may be in the group
};

/// Opens an event. If it wants the highest precision (`:P`), precise_ip is lowered until the kernel accepts it.
std::expected<EventFd, RefusedOpen> open_event(Kernel& kernel, const events::Event& event, const Role& role,
                                               Place place, int group_fd);

/// The open members of a group, the leader first and disabled.
struct OpenedMembers {
    std::vector<EventFd> fds;
    std::uint64_t read_format = 0;  ///< the one that the kernel accepted
};

/// Opens all events of a group. `events` must not be empty.
std::expected<OpenedMembers, RefusedMember> open_members(Kernel& kernel, std::span<const events::Event* const> events,
                                                         Place place, OpenOptions options);

/// The Error for a refused open, with the cause found on this machine (host/open_failure.h). The checks make the call
/// again with changes, so the group's members must still be open. `event` is the one that was refused.
Error explain_refusal(const events::Event& event, const RefusedOpen& refused);

/// The same for a group whose members have been closed. It opens the group again for the checks.
Error explain_refusal(Kernel& kernel, std::span<const events::Event* const> events, Place place, OpenOptions options,
                      const OpenFailure& failure);

}  // namespace anyperf::counting
