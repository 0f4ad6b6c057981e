// open_event.cpp: see open_event.h.
#include "counting/open_event.h"

#include <array>
#include <cerrno>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "host/open_failure.h"

namespace anyperf::counting {

namespace {

constexpr unsigned long kPidCgroup = 1ul << 2;    // PERF_FLAG_PID_CGROUP
constexpr unsigned long kCloseOnExec = 1ul << 3;  // PERF_FLAG_FD_CLOEXEC

constexpr std::uint64_t kTimes =
    abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED") | abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");
constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kLost = abi::read_format("PERF_FORMAT_LOST");
constexpr std::array kReadFormats{kTimes | kGroup | kLost, kTimes | kGroup, kTimes};

unsigned long flags_for(Place place) {
    return kCloseOnExec | (place.cgroup ? kPidCgroup : 0);
}

void set(abi::Attr& attr, std::uint64_t mask, bool on) {
    attr.flags = on ? attr.flags | mask : attr.flags & ~mask;
}

}  // namespace

std::span<const std::uint64_t> read_formats(bool inherit) {
    return std::span{kReadFormats}.first(inherit ? 3 : 2);
}

abi::Attr attr_for(const events::Event& event, const Role& role) {
    abi::Attr attr = events::attr_to_open(event);
    if (attr.size == 0) attr.size = sizeof attr;
    attr.read_format = role.read_format;
    // Counting takes no samples; a period would only make the counter interrupt.
    attr.sample_period = 0;
    set(attr, abi::flag("freq"), false);
    // Siblings start with their leader, so only the leader is off.
    set(attr, abi::flag("disabled"), role.leader);
    set(attr, abi::flag("enable_on_exec"), role.leader && role.options.start == Start::on_exec);
    set(attr, abi::flag("inherit"), event.inherit.value_or(role.options.inherit));
    return attr;
}

std::expected<EventFd, int> open_event(Kernel& kernel, const events::Event& event, const Role& role, Place place,
                                       int group_fd) {
    abi::Attr attr = attr_for(event, role);
    constexpr std::uint64_t kOnePrecise = abi::flag("precise_ip") & ~(abi::flag("precise_ip") << 1);
    for (;;) {
        const int fd = kernel.open(attr, place.pid, place.cpu, group_fd, flags_for(place));
        if (fd >= 0) return EventFd{kernel, fd};
        const bool less_may_do = event.precise_max && (attr.flags & abi::flag("precise_ip")) != 0;
        if (!less_may_do || (fd != -EOPNOTSUPP && fd != -EINVAL)) return std::unexpected(-fd);
        attr.flags -= kOnePrecise;
    }
}

Error explain_refusal(const events::Event& event, const Role& role, Place place, int errno_value) {
    return host::why_open_failed(
        {.attr = attr_for(event, role), .pid = place.pid, .cpu = place.cpu, .group_fd = -1, .flags = flags_for(place)},
        errno_value, event.name);
}

}  // namespace anyperf::counting
