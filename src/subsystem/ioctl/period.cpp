#include "subsystem/ioctl/period.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "subsystem/event_state.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kFreq = abi::flag("freq");

/// Refuses in the order of the kernel's _perf_event_period.
Answer<> check_period(const Event& event, std::uint64_t value, const Limits& limits) {
    if (event.attr.sample_period == 0)
        return refuse(EINVAL, "the event only counts: it was opened with sample_period 0");
    if (value == 0) return refuse(EINVAL, "a period of 0 never ends");
    if (event.flag(kFreq) && value > limits.max_sample_rate)
        return refuse(EINVAL, "above kernel.perf_event_max_sample_rate");
    if (!event.flag(kFreq) && value >> 63 != 0)
        return refuse(EINVAL, "bit 63 is set; a period is a positive signed number");
    return {};
}

void set_period(World& world, Event& event, std::uint64_t value) {
    notice_switched(world, event);
    event.attr.sample_period = value;
    Locked page(world, event);
    change_period(*page, value_now(world, event), value);
}

}  // namespace

Answer<std::uint64_t> fetch_u64(const IoctlArgument& argument) {
    std::uint64_t value = 0;
    if (argument.bytes.size() < sizeof value) return refuse(EFAULT, "the argument is no pointer to 64 bits");
    std::copy_n(argument.bytes.begin(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
}

Answer<IoctlAnswer> ioctl_period(const IoctlCall& call) {
    const std::uint64_t value = TRY(fetch_u64(call.argument));
    TRY(check_period(call.event, value, call.world.host.limits()));
    set_period(call.world, call.event, value);
    for (Event* child : call.event.children) set_period(call.world, *child, value);
    if (call.event.task) attend_later(call.world, *call.event.task);
    for (Event* child : call.event.children) attend_later(call.world, *child->task);
    return IoctlAnswer{};
}

}  // namespace anyperf::subsystem
