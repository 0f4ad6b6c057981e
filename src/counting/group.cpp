// group.cpp: opens, controls and reads a group. perf_event_open(2), "Reading results", has the layout of a read. With
// PERF_FORMAT_GROUP it is nr, time_enabled, time_running, then for each member its value and, with PERF_FORMAT_LOST,
// its lost samples.
#include "anyperf/group.h"

#include <cerrno>
#include <system_error>

#include "abi/attr_flags.h"
#include "abi/ioctls.h"
#include "abi/sample_bits.h"
#include "counting/open_event.h"

namespace anyperf::counting {

namespace {

constexpr unsigned long kEnable = abi::ioctl_request("PERF_EVENT_IOC_ENABLE");
constexpr unsigned long kDisable = abi::ioctl_request("PERF_EVENT_IOC_DISABLE");
constexpr unsigned long kReset = abi::ioctl_request("PERF_EVENT_IOC_RESET");
// Without this flag a request concerns only the event of the descriptor.
constexpr unsigned long kWholeGroup = abi::value_of(abi::kIoctlFlags, "PERF_IOC_FLAG_GROUP");

constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kLost = abi::read_format("PERF_FORMAT_LOST");

/// nr, time_enabled and time_running come before the members.
constexpr std::size_t kGroupHeaderWords = 3;

/// The Error of a read or ioctl that the kernel refused.
Error refused(const std::string& what, const char* call, int errno_value) {
    return {what, std::string{"the kernel answered "} + call + " with: " + std::generic_category().message(errno_value),
            ""};
}

}  // namespace

std::expected<Group, OpenFailure> Group::try_open(std::span<const events::Event* const> events, Place place,
                                                  OpenOptions options, Kernel& kernel) {
    auto opened = open_members(kernel, events, place, options);
    if (!opened) return std::unexpected(OpenFailure{opened.error().event, opened.error().open.errno_value});
    Group group;
    group.fds_ = std::move(opened->fds);
    group.read_format_ = opened->read_format;
    group.name_ = events.front()->name;
    group.buffer_.resize(kGroupHeaderWords + 2 * events.size());
    // The leader was opened disabled and is enabled only now, so that all members have the same times, and no sibling
    // has to wait for the next context switch to be put on a counter.
    if (options.start == Start::enabled)
        if (const int answer = kernel.ioctl(group.fd(0), kEnable, 0); answer < 0)
            return std::unexpected(OpenFailure{0, -answer});
    return group;
}

Result<Group> Group::open(const events::EventGroup& group, Place place, OpenOptions options, Kernel& kernel) {
    std::vector<const events::Event*> members;
    members.reserve(group.events.size());
    for (const auto& event : group.events) members.push_back(&event);
    auto opened = try_open(members, place, options, kernel);
    if (opened) return std::move(*opened);
    return std::unexpected(explain_refusal(kernel, members, place, options, opened.error()));
}

Result<void> Group::read(std::span<Count> counts) {
    return (read_format_ & kGroup) != 0 ? read_together(counts) : read_one_by_one(counts);
}

// One read(2) for the whole group: all members have the same times, and their counts are of one moment.
Result<void> Group::read_together(std::span<Count> counts) {
    // A whole group fills `bytes`, so a shorter answer means that the group has lost members.
    const std::size_t words = (read_format_ & kLost) != 0 ? 2 : 1;
    const std::size_t bytes = (kGroupHeaderWords + words * size()) * sizeof(std::uint64_t);
    const ssize_t got = fds_[0].kernel().read(fds_[0].get(), buffer_.data(), bytes);
    if (got < 0) return std::unexpected(refused("cannot read the group of " + name_, "read", static_cast<int>(-got)));
    if (got == 0) {  // end of file: a pinned group that got no counters
        for (auto& count : counts) count = {};
        return {};
    }
    if (static_cast<std::size_t>(got) != bytes || buffer_[0] != size())
        return std::unexpected(Error{"cannot read the group of " + name_,
                                     "it has " + std::to_string(buffer_[0]) + " of the " + std::to_string(size()) +
                                         " members that were opened: an exec removed the others (remove_on_exec)",
                                     ""});
    const std::uint64_t* member = buffer_.data() + kGroupHeaderWords;
    for (std::size_t i = 0; i < size(); ++i, member += words)
        counts[i] = make_count(member[0], buffer_[1], buffer_[2], words == 2 ? member[1] : 0);
    return {};
}

// For a group with inherit on kernels that refuse PERF_FORMAT_GROUP with it. The counts are of slightly different
// moments.
Result<void> Group::read_one_by_one(std::span<Count> counts) {
    for (std::size_t i = 0; i < size(); ++i) {
        const ssize_t got = fds_[i].kernel().read(fds_[i].get(), buffer_.data(), 3 * sizeof(std::uint64_t));
        if (got < 0)
            return std::unexpected(refused("cannot read the group of " + name_, "read", static_cast<int>(-got)));
        counts[i] = got == 0 ? Count{} : make_count(buffer_[0], buffer_[1], buffer_[2]);
    }
    return {};
}

// One request for all members. FLAG_GROUP means the same through the leader or a sibling; the leader's descriptor is
// used.
Result<void> Group::control(unsigned long request, const char* what) {
    const int answer = fds_[0].kernel().ioctl(fds_[0].get(), request, kWholeGroup);
    if (answer < 0) return std::unexpected(refused(std::string{what} + name_, "ioctl", -answer));
    return {};
}

Result<void> Group::enable() {
    return control(kEnable, "cannot enable ");
}

Result<void> Group::disable() {
    return control(kDisable, "cannot disable ");
}

Result<void> Group::control_member(std::size_t member, unsigned long request, const char* what) {
    const int answer = fds_[member].kernel().ioctl(fds_[member].get(), request, 0);
    if (answer < 0)
        return std::unexpected(refused(std::string{what} + "a member of the group of " + name_, "ioctl", -answer));
    return {};
}

Result<void> Group::enable(std::size_t member) {
    return control_member(member, kEnable, "cannot enable ");
}

Result<void> Group::disable(std::size_t member) {
    return control_member(member, kDisable, "cannot disable ");
}

Result<void> Group::set_filter(std::size_t member, const std::string& filter) {
    constexpr unsigned long kSetFilter = abi::ioctl_request("PERF_EVENT_IOC_SET_FILTER");
    const auto text = reinterpret_cast<std::uintptr_t>(filter.c_str());
    const int answer = fds_[member].kernel().ioctl(fds_[member].get(), kSetFilter, text);
    if (answer < 0) return std::unexpected(refused("cannot filter by " + filter, "ioctl", -answer));
    return {};
}

Result<void> Group::reset() {
    return control(kReset, "cannot reset ");
}

}  // namespace anyperf::counting
