// period.cpp: PERF_EVENT_IOC_PERIOD. The effect on the current period differs between counters, clocks and software
// events; change_period() has the three rules (shared/overflow.h).
#include "subsystem/ioctl/period.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "subsystem/events/event_state.h"
#include "subsystem/shared/overflow.h"
#include "try.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kFreq = abi::flag("freq");

/// The checks of _perf_event_period(), in its order.
Answer<> check_period(const Event& event, std::uint64_t value, const Limits& limits) {
    if (event.attr.sample_period == 0)
        return refuse(EINVAL, "the event only counts: it was opened with sample_period 0");
    if (value == 0) return refuse(EINVAL, "the period is 0");
    if (event.flag(kFreq) && value > limits.max_sample_rate)
        return refuse(EINVAL, "the frequency is above kernel.perf_event_max_sample_rate");
    if (!event.flag(kFreq) && value >> 63 != 0)
        return refuse(EINVAL, "bit 63 is set; a period is a positive signed number");
    return {};
}

// What the thread has done to its page comes first (a REFRESH limit that ran out, say). Then the page changes under its
// lock, at the source's present value.
void set_period(World& world, Event& event, std::uint64_t value) {
    sync_state_from_page(world, event);
    event.attr.sample_period = value;
    LockedPage page(world, event);
    change_period(*page, value_now(world, event), value);
}

/// The 64 bits that the pointer argument points to; EFAULT if they can't be read.
Answer<std::uint64_t> fetch_u64(const IoctlArgument& argument) {
    std::uint64_t value = 0;
    if (argument.bytes.size() < sizeof value) return refuse(EFAULT, "the argument does not point to 64 readable bits");
    std::copy_n(argument.bytes.begin(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
}

}  // namespace

// The measured threads must reach a safepoint: they have computed their budgets with the old period.
Answer<IoctlAnswer> ioctl_period(const IoctlCall& call) {
    const std::uint64_t value = TRY(fetch_u64(call.argument));
    TRY(check_period(call.event, value, call.world.host.limits()));
    set_period(call.world, call.event, value);
    for (Event* child : call.event.children) set_period(call.world, *child, value);
    if (call.event.task) request_safepoint_later(call.world, *call.event.task);
    for (Event* child : call.event.children) request_safepoint_later(call.world, *child->task);
    return IoctlAnswer{};
}

}  // namespace anyperf::subsystem
