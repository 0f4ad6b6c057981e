// enable.cpp: the ioctls ENABLE, DISABLE, RESET, REFRESH and ID.
//
// The first three act on the named member of a group alone. With PERF_IOC_FLAG_GROUP they act on the whole group,
// whichever member is named. Children follow their parent (control.h).
#include "subsystem/ioctl/enable.h"

#include <cstring>

#include "abi/attr_flags.h"
#include "abi/ioctls.h"
#include "subsystem/control.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/group_lock.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kWholeGroup = abi::value_of(abi::kIoctlFlags, "PERF_IOC_FLAG_GROUP");

/// The events that the call acts on. Bits of the argument other than PERF_IOC_FLAG_GROUP are ignored, as by the kernel.
std::vector<Event*> target_events(const IoctlCall& call) {
    return (call.argument.word & kWholeGroup) != 0 ? members(call.event) : std::vector{&call.event};
}

}  // namespace

Answer<IoctlAnswer> ioctl_enable(const IoctlCall& call) {
    enable(call.world, target_events(call));
    return IoctlAnswer{};
}

Answer<IoctlAnswer> ioctl_disable(const IoctlCall& call) {
    disable(call.world, target_events(call));
    return IoctlAnswer{};
}

Answer<IoctlAnswer> ioctl_reset(const IoctlCall& call) {
    reset(call.world, target_events(call));
    return IoctlAnswer{};
}

// _perf_event_refresh() takes the argument as an int and adds it to the limit. A negative argument lowers the limit.
Answer<IoctlAnswer> ioctl_refresh(const IoctlCall& call) {
    Event& event = call.event;
    if (event.flag(abi::flag("inherit"))) return refuse(EINVAL, "REFRESH is not allowed on events with inherit");
    if (event.attr.sample_period == 0)
        return refuse(EINVAL, "the event only counts: it was opened with sample_period 0");
    lock_group(call.world, event);
    sync_state_from_page(call.world, event);
    {
        LockedPage page(call.world, event);
        const auto more = static_cast<std::int64_t>(static_cast<std::int32_t>(call.argument.word));
        // Added as unsigned numbers, because a signed overflow is undefined in C++, and programs can write the page.
        page->limit =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(page->limit) + static_cast<std::uint64_t>(more));
    }
    Event* const one = &event;
    enable(call.world, {&one, 1});
    return IoctlAnswer{};
}

// PERF_EVENT_IOC_ID: the event's number in its records. It is written to where the argument points.
Answer<IoctlAnswer> ioctl_id(const IoctlCall& call) {
    IoctlAnswer answer;
    answer.written.resize(sizeof(std::uint64_t));
    std::memcpy(answer.written.data(), &call.event.page->id, sizeof(std::uint64_t));
    return answer;
}

}  // namespace anyperf::subsystem
