// group.cpp: opening, controlling and reading a group. The layout of a read is perf_event_open(2)'s "Reading results".
#include "anyperf/group.h"

#include <cerrno>
#include <system_error>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "counting/open_event.h"

namespace anyperf::counting {

namespace {

// include/uapi/linux/perf_event.h: _IO('$', n)
constexpr unsigned long kIocEnable = 0x2400;
constexpr unsigned long kIocDisable = 0x2401;
constexpr unsigned long kIocReset = 0x2403;
constexpr unsigned long kFlagGroup = 1;  // PERF_IOC_FLAG_GROUP

constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kLost = abi::read_format("PERF_FORMAT_LOST");

/// nr, time_enabled, time_running stand before the members.
constexpr std::size_t kGroupHeaderWords = 3;

Error refused(const std::string& what, const char* call, int errno_value) {
    return {what, std::string{"the kernel answered "} + call + " with: " + std::generic_category().message(errno_value),
            ""};
}

bool inherits(const events::Event& event, const OpenOptions& options) {
    return event.inherit.value_or(options.inherit);
}

}  // namespace

std::expected<Group, OpenFailure> Group::try_open(std::span<const events::Event* const> events, Place place,
                                                  OpenOptions options, Kernel& kernel) {
    Group group;
    int first_errno = 0;
    for (const std::uint64_t format : read_formats(inherits(*events.front(), options))) {
        auto leader = open_event(kernel, *events.front(), {true, options, format}, place, -1);
        if (!leader) {
            if (first_errno == 0) first_errno = leader.error();
            if (leader.error() == EINVAL) continue;
            return std::unexpected(OpenFailure{0, leader.error()});
        }
        group.read_format_ = format;
        group.fds_.reserve(events.size());
        group.fds_.push_back(std::move(*leader));
        break;
    }
    if (group.fds_.empty()) return std::unexpected(OpenFailure{0, first_errno});
    for (std::size_t i = 1; i < events.size(); ++i) {
        auto sibling = open_event(kernel, *events[i], {false, options, group.read_format_}, place, group.fd(0));
        if (!sibling) return std::unexpected(OpenFailure{i, sibling.error()});
        group.fds_.push_back(std::move(*sibling));
    }
    group.name_ = events.front()->name;
    group.buffer_.resize(kGroupHeaderWords + 2 * events.size());
    // Only now, so that all members have the same times, and no sibling has to wait for the next context switch.
    if (options.start == Start::enabled)
        if (const int answer = kernel.ioctl(group.fd(0), kIocEnable, 0); answer < 0)
            return std::unexpected(OpenFailure{0, -answer});
    return group;
}

Result<Group> Group::open(const events::EventGroup& group, Place place, OpenOptions options, Kernel& kernel) {
    std::vector<const events::Event*> members;
    members.reserve(group.events.size());
    for (const auto& event : group.events) members.push_back(&event);
    auto opened = try_open(members, place, options, kernel);
    if (opened) return std::move(*opened);
    const auto [event, errno_value] = opened.error();
    return std::unexpected(
        explain_refusal(group.events[event], {event == 0, options, read_formats(false).front()}, place, errno_value));
}

Result<void> Group::read(std::span<Count> counts) {
    return (read_format_ & kGroup) != 0 ? read_together(counts) : read_one_by_one(counts);
}

Result<void> Group::read_together(std::span<Count> counts) {
    const std::size_t words = (read_format_ & kLost) != 0 ? 2 : 1;
    const std::size_t bytes = (kGroupHeaderWords + words * size()) * sizeof(std::uint64_t);
    const ssize_t got = fds_[0].kernel().read(fds_[0].get(), buffer_.data(), bytes);
    if (got < 0) return std::unexpected(refused("cannot read the group of " + name_, "read", static_cast<int>(-got)));
    if (got == 0) {
        for (auto& count : counts) count = {};
        return {};
    }
    if (static_cast<std::size_t>(got) != bytes || buffer_[0] != size())
        return std::unexpected(Error{"cannot read the group of " + name_,
                                     "it has " + std::to_string(buffer_[0]) + " members, of " + std::to_string(size()) +
                                         " that were opened: an exec removed the others (remove_on_exec)",
                                     ""});
    const std::uint64_t* member = buffer_.data() + kGroupHeaderWords;
    for (std::size_t i = 0; i < size(); ++i, member += words)
        counts[i] = make_count(member[0], buffer_[1], buffer_[2], words == 2 ? member[1] : 0);
    return {};
}

Result<void> Group::read_one_by_one(std::span<Count> counts) {
    for (std::size_t i = 0; i < size(); ++i) {
        const ssize_t got = fds_[i].kernel().read(fds_[i].get(), buffer_.data(), 3 * sizeof(std::uint64_t));
        if (got < 0)
            return std::unexpected(refused("cannot read the group of " + name_, "read", static_cast<int>(-got)));
        counts[i] = got == 0 ? Count{} : make_count(buffer_[0], buffer_[1], buffer_[2]);
    }
    return {};
}

Result<void> Group::control(unsigned long request, const char* what) {
    const int answer = fds_[0].kernel().ioctl(fds_[0].get(), request, kFlagGroup);
    if (answer < 0) return std::unexpected(refused(std::string{what} + name_, "ioctl", -answer));
    return {};
}

Result<void> Group::enable() {
    return control(kIocEnable, "cannot enable ");
}

Result<void> Group::disable() {
    return control(kIocDisable, "cannot disable ");
}

Result<void> Group::reset() {
    return control(kIocReset, "cannot reset ");
}

}  // namespace anyperf::counting
