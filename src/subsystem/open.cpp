// open.cpp: perf_event_open(2), in the order of the kernel's SYSCALL_DEFINE5(perf_event_open) and perf_event_alloc()
// (kernel/events/core.c of Linux 6.18).
//
// The order matters: a call with several mistakes must get the errno that Linux gives, since programs probe for
// features by it. So each check is at the kernel's place, though some of them look out of order: rights on the task
// come after the PMU, and the rules of groups last of all.
//
// A refused call changes nothing that a client can see. Until PendingEvent::commit() the event has a page and a PMU
// that knows it, and the destructor gives both back. What follows the commit cannot fail.
#include "subsystem/open.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "abi/clocks.h"
#include "abi/ioctls.h"
#include "abi/sample_bits.h"
#include "subsystem/events/attr_copy.h"
#include "subsystem/events/attr_rules.h"
#include "subsystem/events/event_creation.h"
#include "subsystem/events/group_rules.h"
#include "subsystem/output/output.h"
#include "subsystem/permissions.h"
#include "subsystem/scheduling/cpu_wide.h"
#include "subsystem/scheduling/scheduler.h"
#include "subsystem/tasks/task_table.h"
#include "try.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;
using abi::sample;

constexpr auto kNoGroup = abi::bit(abi::kOpenFlags, "PERF_FLAG_FD_NO_GROUP");
constexpr auto kOutput = abi::bit(abi::kOpenFlags, "PERF_FLAG_FD_OUTPUT");
constexpr auto kCgroup = abi::bit(abi::kOpenFlags, "PERF_FLAG_PID_CGROUP");
constexpr auto kKnownFlags = 2 * abi::kOpenFlags.back().mask() - 1;

/// What the steps find out and pass on.
struct Opening {
    World& world;
    const OpenRequest& request;
    const Limits& limits;
    const Rights& rights;
    abi::Attr attr;
    Event* leader = nullptr;  ///< the leader of the group to join
    Event* output = nullptr;  ///< the event whose ring is shared
    std::optional<TaskId> target;
    std::optional<TaskId> outsider;  ///< the task that pid names, if it is not in the run; `target` is then the caller

    bool has(std::uint64_t open_flag) const { return (request.flags & open_flag) != 0; }
    bool attr_has(std::uint64_t mask) const { return (attr.flags & mask) != 0; }
};

/// group_fd names the leader, unless FD_NO_GROUP is set. With FD_OUTPUT it names the event whose ring is shared. It may
/// be both.
Answer<> find_group(Opening& opening) {
    const Descriptor& group = opening.request.group;
    if (group.none) return {};
    if (!group.event) return refuse(EBADF, "group_fd is not the descriptor of an event");
    Event* const found = opening.world.find_opened(*group.event);
    if (!found) return refuse(EBADF, "group_fd's event has ended");
    Event& named = *found;
    if (named.requested_state() <= EventState::exited) return refuse(ENODEV, "the task of group_fd's event has ended");
    if (opening.has(kOutput)) opening.output = &named;
    if (!opening.has(kNoGroup)) opening.leader = &named;
    return {};
}

/// pid: a cgroup's descriptor, -1 for all tasks, 0 for the caller, or a task. A task outside of the run is looked up
/// only because a caller without rights to it must get EACCES (check_rights()). In the checks before that the caller
/// takes its place.
Answer<> find_target(Opening& opening) {
    const OpenRequest& request = opening.request;
    if (opening.has(kCgroup)) {
        if (!request.cgroup) return refuse(EBADF, "pid is not the descriptor of a cgroup's directory");
    } else if (request.pid != -1) {
        if (request.pid < 0) return refuse(ESRCH, "pid is negative and not -1");
        opening.target =
            request.pid == 0 ? request.caller : TRY(opening.world.host.find_task(request.caller, request.pid));
        if (opening.target->thread_page == kOutsideOfRun) {
            opening.outsider = opening.target;
            opening.target = request.caller;
        }
    }
    if (opening.target && opening.leader && ((opening.leader->attr.flags ^ opening.attr.flags) & flag("inherit")) != 0)
        return refuse(EINVAL, "leader and sibling differ in attr.inherit");
    return {};
}

/// The checks of perf_event_alloc() that precede the PMU's.
Answer<> check_arguments(const Opening& opening) {
    const std::int32_t cpu = opening.request.cpu;
    const bool some_cpu = cpu >= 0 && static_cast<std::uint32_t>(cpu) < opening.limits.cpus;
    if (!some_cpu && !(cpu == -1 && opening.target)) return refuse(EINVAL, "no such CPU, or pid and cpu are both -1");
    if (opening.attr_has(flag("sigtrap")) && !opening.target)
        return refuse(EINVAL, "sigtrap needs a task that gets the signal");
    if (opening.attr_has(flag("inherit")) && (opening.attr.sample_type & sample("PERF_SAMPLE_READ")) != 0 &&
        (opening.attr.sample_type & sample("PERF_SAMPLE_TID")) == 0)
        return refuse(EINVAL, "PERF_SAMPLE_READ with inherit needs PERF_SAMPLE_TID");
    return {};
}

/// perf_event_set_clock(): a clock that cannot be read in an NMI is refused for PMUs that may sample in one.
Answer<> check_clock(const Opening& opening, const Wiring& wiring) {
    if (!opening.attr_has(flag("use_clockid"))) return {};
    constexpr std::int32_t monotonic = 1;
    constexpr std::int32_t monotonic_raw = 4;
    const std::int32_t clock = opening.attr.clockid;
    if (clock == monotonic || clock == monotonic_raw) return {};
    const bool known = std::ranges::any_of(
        abi::kClocks, [clock](const auto& row) { return static_cast<std::int32_t>(row.value) == clock; });
    if (!known) return refuse(EINVAL, "clockid is not a clock that events can use");
    if (wiring.monotonic_only)
        return refuse(EINVAL,
                      "this PMU may sample in NMI context: clockid must be CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW");
    return {};
}

/// The checks of perf_event_alloc() after the PMU has accepted the event.
Answer<> check_wiring(const Opening& opening, const Event& event) {
    TRY(check_fits(event, opening.leader ? *opening.leader : event));
    TRY(check_wired_attr(opening.attr, opening.limits));
    if (event.wiring.counts_only && opening.attr.sample_period != 0)
        return refuse(EOPNOTSUPP, "the PMU has no interrupt: sample_period must be 0");
    return check_clock(opening, event.wiring);
}

/// perf_check_permission() and ptrace_may_access(): a task of the caller's own user, or a privilege. ESRCH if the
/// caller has the right, but the task is not in the run.
Answer<> check_rights(const Opening& opening) {
    if (!opening.target) {
        if (!opening.rights.may_measure_cpu())
            return refuse(EACCES, "measuring all tasks of a CPU needs CAP_PERFMON or perf_event_paranoid 0");
        return {};
    }
    const TaskId& named = opening.outsider ? *opening.outsider : *opening.target;
    const bool allowed = named.thread_page == opening.request.caller.thread_page || opening.rights.has_perfmon() ||
                         opening.world.host.may_measure(opening.request.caller, named);
    if (!allowed) return refuse(EACCES, "the task belongs to another user, or is not dumpable");
    if (opening.outsider) return refuse(ESRCH, "the task does not belong to this run");
    return {};
}

/// The rules of groups, rings and AUX, which the kernel checks last.
Answer<> check_group_and_output(const Opening& opening, const Event& event) {
    if (opening.leader) TRY(check_sibling(event, *opening.leader));
    if (opening.output) TRY(check_output(opening.world, event, *opening.output));
    if (opening.leader) TRY(check_group_bytes(event, *opening.leader));
    if (opening.attr.aux_sample_size != 0 || opening.attr.aux_action != 0)
        return refuse(EINVAL, "the group has no event with an AUX area");
    return {};
}

/// All checks that need no PMU.
Answer<> check_call(Opening& opening) {
    const OpenRequest& request = opening.request;
    if ((request.flags & ~kKnownFlags) != 0) return refuse(EINVAL, "flags has a bit that Linux does not know");
    opening.attr = TRY(copy_attr(request.attr));
    const AttrContext context{opening.limits, opening.rights};
    TRY(check_attr_content(opening.attr, context));
    TRY(check_attr(opening.attr, context));
    if (opening.has(kCgroup) && (request.pid == -1 || request.cpu == -1))
        return refuse(EINVAL, "PERF_FLAG_PID_CGROUP needs a cpu, and the cgroup's descriptor as pid");
    if (!request.descriptor_free) return refuse(EMFILE, "no descriptor is free: RLIMIT_NOFILE is reached");
    TRY(find_group(opening));
    TRY(find_target(opening));
    TRY(check_arguments(opening));
    // Defaults are filled in after these checks, which judge the attr as the caller passed it.
    complete_attr(opening.attr, opening.limits);
    return {};
}

/// The event with its page and PMU, not yet known to the rest of the subsystem.
Answer<PendingEvent> create_pending(Opening& opening) {
    World& world = opening.world;
    EventSpec spec{.attr = opening.attr,
                   .task = opening.target ? &find_or_add_task(world, *opening.target) : nullptr,
                   .cpu = opening.request.cpu,
                   .opener = opening.request.caller,
                   .rights = opening.rights,
                   .file = opening.request.file};
    auto event = TRY(create_event(world, spec));
    event->cgroup = opening.has(kCgroup) ? opening.request.cgroup : std::nullopt;
    event->user_reads = opening.limits.rdpmc;
    event->page->requested_state = opening.attr_has(flag("disabled")) ? EventState::off : EventState::inactive;
    return event;
}

}  // namespace

Answer<EventIndex> open_event(World& world, const OpenRequest& request) {
    const Limits limits = world.host.limits();
    const Rights rights{world.host, request.caller, limits};
    Opening opening{world, request, limits, rights, {}, {}, {}, {}, {}};
    TRY(check_call(opening));
    auto made = TRY(create_pending(opening));
    TRY(check_wiring(opening, *made));
    TRY(check_rights(opening));
    TRY(check_group_and_output(opening, *made));

    Event& event = made.commit();
    event.leader = opening.leader ? opening.leader : &event;
    event.opener = &find_or_add_task(world, request.caller);
    event.position_in_opened = event.opener->opened.insert(event.opener->opened.end(), &event);
    if (opening.output) redirect(world, event, *opening.output);
    attach(world, event);
    if (event.cpu_wide) add_cpu_wide_event(world, event);
    return event.index;
}

}  // namespace anyperf::subsystem
