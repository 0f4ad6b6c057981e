// open_event.h: one perf_event_open, with what older kernels lack left out where they refuse it.
#pragma once

#include <cstdint>
#include <expected>
#include <span>

#include "anyperf/group.h"

namespace anyperf::counting {

/// What opening adds to the attr of an event's name.
struct Role {
    bool leader = true;
    OpenOptions options;
    std::uint64_t read_format = 0;
};

/// The read_formats to try for a leader, the best first. PERF_FORMAT_LOST came with Linux 6.0; PERF_FORMAT_GROUP with
/// `inherit` is refused before 4.13 (kernel/events/core.c, perf_event_alloc).
std::span<const std::uint64_t> read_formats(bool inherit);

/// attr as the kernel is to see it: the name's, with the role's bits.
abi::Attr attr_for(const events::Event& event, const Role& role);

/// The descriptor, or the errno. Of an event that asked for the most precision (`:P`) the kernel's most is taken.
std::expected<EventFd, int> open_event(Kernel& kernel, const events::Event& event, const Role& role, Place place,
                                       int group_fd);

/// The Error for a refused open: what the user asked for, and the cause found on this machine.
Error explain_refusal(const events::Event& event, const Role& role, Place place, int errno_value);

}  // namespace anyperf::counting
