// modify.cpp: PERF_EVENT_IOC_MODIFY_ATTRIBUTES, which moves a breakpoint. The attr is read and checked like that of an
// open. Then the PMU compares it with the event's own and decides which fields may differ (Pmu::modify).
#include "subsystem/ioctl/modify.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "subsystem/control.h"
#include "subsystem/events/attr_copy.h"
#include "subsystem/events/attr_rules.h"
#include "subsystem/events/event_creation.h"
#include "try.h"

namespace anyperf::subsystem {
namespace {

/// Changes one event, without its children.
Answer<> change(World& world, Event& event, const abi::Attr& wanted) {
    event.attr.sig_data = wanted.sig_data;
    const Answer<> answer = event.pmu->modify(event.index, event.attr, wanted);
    {
        LockedPage page(world, event);
        page->shape = shape_of(event.attr);
    }
    if (event.task) request_safepoint_later(world, *event.task);
    return answer;
}

}  // namespace

// As in perf_event_modify_attr(), the event is disabled during the change. Afterwards it is enabled, even if the change
// failed, unless attr.disabled is set. The first refusal ends the loop, so children may keep the old address.
Answer<IoctlAnswer> ioctl_modify_attributes(const IoctlCall& call) {
    const Limits limits = call.world.host.limits();
    abi::Attr wanted = TRY(copy_attr(call.argument.bytes));
    TRY(check_attr_content(wanted, {limits, Rights{call.world.host, call.caller, limits}}));
    complete_attr(wanted, limits);
    Event& event = call.event;
    if (wanted.type != event.attr.type) return refuse(EINVAL, "attr.type can't be modified");
    if (wanted.type != abi::kTypeBreakpoint) return refuse(EOPNOTSUPP, "events of this PMU can't be modified");
    Event* const one = &event;
    disable(call.world, {&one, 1});
    Answer<> answer = change(call.world, event, wanted);
    for (std::size_t i = 0; answer && i < event.children.size(); ++i)
        answer = change(call.world, *event.children[i], wanted);
    if (!event.flag(abi::flag("disabled"))) enable(call.world, {&one, 1});
    if (!answer) return std::unexpected(answer.error());
    return IoctlAnswer{};
}

}  // namespace anyperf::subsystem
