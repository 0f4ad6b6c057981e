#include "subsystem/ioctl/switch.h"

#include <cstring>

#include "abi/attr_flags.h"
#include "abi/ioctls.h"
#include "subsystem/control.h"
#include "subsystem/event_state.h"
#include "subsystem/group_hold.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kWholeGroup = abi::value_of(abi::kIoctlFlags, "PERF_IOC_FLAG_GROUP");

/// Other bits of the argument are accepted and mean nothing.
std::vector<Event*> meant(const IoctlCall& call) {
    return (call.argument.word & kWholeGroup) != 0 ? members(call.event) : std::vector{&call.event};
}

}  // namespace

Answer<IoctlAnswer> ioctl_enable(const IoctlCall& call) {
    enable(call.world, meant(call));
    return IoctlAnswer{};
}

Answer<IoctlAnswer> ioctl_disable(const IoctlCall& call) {
    disable(call.world, meant(call));
    return IoctlAnswer{};
}

Answer<IoctlAnswer> ioctl_reset(const IoctlCall& call) {
    reset(call.world, meant(call));
    return IoctlAnswer{};
}

Answer<IoctlAnswer> ioctl_refresh(const IoctlCall& call) {
    Event& event = call.event;
    if (event.flag(abi::flag("inherit"))) return refuse(EINVAL, "an inherited event has no limit of overflows");
    if (event.attr.sample_period == 0) return refuse(EINVAL, "the event only counts: it never overflows");
    hold(call.world, event);
    notice_switched(call.world, event);
    {
        Locked page(call.world, event);
        page->limit += static_cast<std::int32_t>(call.argument.word);
    }
    Event* const one = &event;
    enable(call.world, {&one, 1});
    return IoctlAnswer{};
}

Answer<IoctlAnswer> ioctl_id(const IoctlCall& call) {
    IoctlAnswer answer;
    answer.written.resize(sizeof(std::uint64_t));
    std::memcpy(answer.written.data(), &call.event.page->id, sizeof(std::uint64_t));
    return answer;
}

}  // namespace anyperf::subsystem
