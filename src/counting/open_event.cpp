// open_event.cpp: opens by trial. Older kernels refuse what newer ones accept, and EINVAL does not say what was wrong.
// So an open starts with the best request and falls back by fixed steps, each of which gives up one thing:
//
// - read_format: first times, group and lost counts. Then without PERF_FORMAT_LOST, the newest of the bits. Then, with
//   `inherit`, without PERF_FORMAT_GROUP, which kernels before 4.13 refuse on inherited events (commit ba5213ae6b88).
// - precise_ip, if the event string asks for as much as possible (modifier P): one less each time. A PMU that has less
//   precision answers EOPNOTSUPP or EINVAL.
//
// If every read_format is refused with EINVAL, open_members() returns the refusal of the best one, which is the request
// that the user meant.
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

/// A term of the event string takes precedence over the options of the open.
bool inherits(const events::Event& event, const OpenOptions& options) {
    return event.inherit.value_or(options.inherit);
}

}  // namespace

std::span<const std::uint64_t> read_formats(bool inherit) {
    return std::span{kReadFormats}.first(inherit ? 3 : 2);
}

// The attr of the event string, with what counting needs: no sampling, the wanted read_format, and a leader that counts
// only once it is enabled.
host::OpenCall call_for(const events::Event& event, const Role& role, Place place, int group_fd) {
    abi::Attr attr = events::attr_to_open(event);
    if (attr.size == 0) attr.size = sizeof attr;
    attr.read_format = role.read_format;
    // Counting needs no samples; with a period the counter would interrupt for nothing.
    attr.sample_period = 0;
    set(attr, abi::flag("freq"), false);
    // A sibling counts only while its leader is enabled, so it is enough to disable the leader.
    set(attr, abi::flag("disabled"), role.leader);
    set(attr, abi::flag("enable_on_exec"), role.leader && role.options.start == Start::on_exec);
    set(attr, abi::flag("inherit"), inherits(event, role.options));
    return {.attr = attr, .pid = place.pid, .cpu = place.cpu, .group_fd = group_fd, .flags = flags_for(place)};
}

std::expected<EventFd, RefusedOpen> open_event(Kernel& kernel, const events::Event& event, const Role& role,
                                               Place place, int group_fd) {
    host::OpenCall call = call_for(event, role, place, group_fd);
    // The lowest bit of the two-bit field precise_ip: subtracting it lowers the field by one.
    constexpr std::uint64_t kPreciseIpStep = abi::flag("precise_ip") & ~(abi::flag("precise_ip") << 1);
    for (;;) {
        const int fd = kernel.open(call.attr, call.pid, call.cpu, call.group_fd, call.flags);
        if (fd >= 0) return EventFd{kernel, fd};
        const bool can_lower_precision = event.precise_max && (call.attr.flags & abi::flag("precise_ip")) != 0;
        if (!can_lower_precision || (fd != -EOPNOTSUPP && fd != -EINVAL))
            return std::unexpected(RefusedOpen{-fd, call});
        call.attr.flags -= kPreciseIpStep;
    }
}

std::expected<OpenedMembers, RefusedMember> open_members(Kernel& kernel, std::span<const events::Event* const> events,
                                                         Place place, OpenOptions options) {
    OpenedMembers opened;
    RefusedOpen first;  // with the best read_format
    for (const std::uint64_t format : read_formats(inherits(*events.front(), options))) {
        auto leader = open_event(kernel, *events.front(), {true, options, format}, place, -1);
        if (!leader) {
            if (first.errno_value == 0) first = leader.error();
            if (leader.error().errno_value == EINVAL) continue;
            return std::unexpected(RefusedMember{0, leader.error(), {}});
        }
        opened.read_format = format;
        opened.fds.reserve(events.size());
        opened.fds.push_back(std::move(*leader));
        break;
    }
    if (opened.fds.empty()) return std::unexpected(RefusedMember{0, first, {}});
    for (std::size_t i = 1; i < events.size(); ++i) {
        const Role role{false, options, opened.read_format};
        auto sibling = open_event(kernel, *events[i], role, place, opened.fds.front().get());
        if (!sibling) return std::unexpected(RefusedMember{i, sibling.error(), std::move(opened.fds)});
        opened.fds.push_back(std::move(*sibling));
    }
    return opened;
}

Error explain_refusal(const events::Event& event, const RefusedOpen& refused) {
    return host::why_open_failed(refused.call, refused.errno_value, event.name);
}

// The search for the cause makes the refused call again, for which the group's members must be open. They are closed by
// now, so the group is opened once more. If that does not fail in the same way, the first failure is explained without
// its group.
Error explain_refusal(Kernel& kernel, std::span<const events::Event* const> events, Place place, OpenOptions options,
                      const OpenFailure& failure) {
    const events::Event& event = *events[failure.event];
    const auto again = open_members(kernel, events, place, options);
    if (!again && again.error().event == failure.event && again.error().open.errno_value == failure.errno_value)
        return explain_refusal(event, again.error().open);
    const Role role{failure.event == 0, options, read_formats(false).front()};
    return explain_refusal(event, {failure.errno_value, call_for(event, role, place, -1)});
}

}  // namespace anyperf::counting
