// refused_parts.cpp: finds what the kernel refused by asking again. EINVAL and EOPNOTSUPP have a hundred reasons, and
// the kernel does not say which. So the same call is tried without some parts. If the kernel then accepts it, those
// parts were refused.
//
// One part at a time is not enough: the kernel may refuse two parts only together, or each of two by itself. Hence the
// search for a minimal set of parts. An answer about rights may hide the refusal, so it does not count as acceptance.
// All tried calls are disabled events that are closed at once (Kernel::try_open).
#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/causes/parts.h"
#include "host/causes/pmu_names.h"
#include "host/hardware/cpus.h"
#include "host/kernel/sysctl.h"

namespace anyperf::host::causes {

namespace {

/// The PMU of the call as the subject of a sentence.
std::string subject(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    return pmu.empty() ? fmt::format("the PMU of type {}", failure.call.attr.type) : "the PMU " + pmu;
}

/// Whether the kernel gets past the check that refused the failed call: it answers success or another errno. Errnos
/// about rights and descriptors don't count, because the kernel may check those first.
bool accepted(const Failure& failure, const OpenCall& call) {
    const int answer = failure.kernel.try_open(call);
    return answer != failure.errno_value && answer != EACCES && answer != EPERM && answer != EMFILE;
}

/// Whether config1 and config2 say where the event is, rather than being options of it.
bool config1_is_location(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    return failure.call.attr.type == abi::kTypeBreakpoint || pmu == "uprobe" || pmu == "kprobe";
}

/// A minimal set of parts that must be left out for the call to be accepted. It leaves out one part after the other
/// until the call is accepted, then puts back each part that it can. Empty if the call is refused even without all
/// parts. It takes at most two calls for each part.
std::vector<Part> refused_together(const Failure& failure, const std::vector<Part>& parts) {
    std::size_t count = 0;
    OpenCall call = failure.call;
    while (count < parts.size() && (count == 0 || !accepted(failure, call))) parts[count++].leave_out(call);
    if (!accepted(failure, call)) return {};
    std::vector<Part> out{parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count)};
    for (std::size_t i = 0; i < out.size();) {
        OpenCall with_it = failure.call;
        for (std::size_t j = 0; j < out.size(); ++j)
            if (j != i) out[j].leave_out(with_it);
        if (accepted(failure, with_it))
            out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
        else
            ++i;
    }
    return out;
}

/// A difference between an event and its group leader that the kernel refuses. If `make` removes the difference and the
/// call is then accepted, `shows` is the cause.
struct Change {
    std::string_view shows;
    std::string_view fix;
    void (*make)(OpenCall&);
};

constexpr std::array kChanges{
    Change{"only a group leader may have attr.pinned", "set it on the leader only (modifier D)",
           [](OpenCall& call) { call.attr.flags &= ~kPinned; }},
    Change{"only a group leader may have attr.exclusive", "set it on the leader only (modifier e)",
           [](OpenCall& call) { call.attr.flags &= ~kExclusive; }},
    Change{"attr.inherit differs from the leader's", "set it on all members of a group, or on none",
           [](OpenCall& call) { call.attr.flags ^= kInherit; }},
    Change{"it and the leader use different clocks (use_clockid, clockid)", "use the same clock for the whole group",
           [](OpenCall& call) { call.attr.flags ^= kUseClockid, call.attr.clockid = call.attr.clockid == 0 ? 1 : 0; }},
    Change{"the leader is on the calling process, this event on another", "put the whole group on the same process",
           [](OpenCall& call) { call.pid = 0; }},
    Change{"the leader is on any CPU, this event on one", "put the whole group on the same CPU",
           [](OpenCall& call) { call.cpu = -1; }},
};

/// The CPU that the leader is on, found by trying each that is online; -1 if a different CPU is not the reason.
int cpu_of_leader(const Failure& failure) {
    const auto online = parse_cpu_list(failure.root.read("/sys/devices/system/cpu/online").value_or(""));
    for (const int cpu : online.value_or(std::vector<int>{})) {
        OpenCall there = failure.call;
        there.cpu = cpu;
        if (cpu != failure.call.cpu && accepted(failure, there)) return cpu;
    }
    return -1;
}

/// The cause that remains when every difference to the leader that can be tried is ruled out. If the members of a group
/// don't fit on the counters together, the kernel refuses the member that is one too many (validate_group() in
/// arch/x86/events/core.c).
Cause leader_or_room(const Failure& failure) {
    const bool watchdog = kernel_setting(failure.root, "nmi_watchdog").value_or(0) == 1;
    if (for_core_pmu(failure.call.attr.type))
        return {fmt::format(
                    "{} opens alone, but not in this group; pinned, exclusive, inherit, clock, process and CPU are "
                    "not the reason: the PMU has no room for the whole group{}",
                    failure.event, watchdog ? ", and the NMI watchdog holds a counter (kernel.nmi_watchdog is 1)" : ""),
                watchdog ? "use fewer events in the group; or as root: sysctl kernel.nmi_watchdog=0"
                         : "use fewer events in the group (:W lets it be broken up)"};
    return {
        fmt::format("{} opens alone, but not in this group; pinned, exclusive, inherit, clock, process and CPU are not "
                    "the reason: the leader is itself a member of a group, is on another process, or has exited",
                    failure.event),
        "pass the descriptor of a leader on the same process and CPU"};
}

}  // namespace

Found refused_by_group(const Failure& failure) {
    OpenCall alone = failure.call;
    alone.group_fd = -1;
    if (failure.call.group_fd == -1 || !failure.can_retry() || failure.kernel.try_open(alone) != 0) return {};
    for (const Change& change : kChanges) {
        OpenCall changed = failure.call;
        change.make(changed);
        if (changed == failure.call || !accepted(failure, changed)) continue;
        return Cause{fmt::format("{} opens alone, but not in this group: {}", failure.event, change.shows),
                     std::string{change.fix}};
    }
    if (const int cpu = cpu_of_leader(failure); cpu >= 0)
        return Cause{fmt::format("{} opens alone, but not in this group: the leader is on CPU {}, this event on {}",
                                 failure.event, cpu, failure.call.cpu < 0 ? "any" : std::to_string(failure.call.cpu)),
                     "put the whole group on the same CPU"};
    return leader_or_room(failure);
}

Found refused_part(const Failure& failure) {
    if (!failure.can_retry()) return {};
    const auto refused = refused_together(failure, parts_of(failure.call, config1_is_location(failure)));
    if (refused.empty()) return {};
    std::string names, hints;
    for (const Part& part : refused) {
        names += (names.empty() ? "" : " together with ") + part.name;
        if (!part.hint.empty()) hints += "; " + part.hint;
    }
    return Cause{fmt::format("{} refuses {}: the same call without {} is accepted{}", subject(failure), names,
                             refused.size() == 1 ? "it" : "them", hints),
                 refused.size() == 1 ? "leave it out" : "leave one of them out"};
}

// The last check of its errnos. It opens the event alone, with only the fields that identify it and its privilege
// levels. If even that gets the same errno, the event itself is refused.
Found refused_config(const Failure& failure) {
    if (!failure.can_retry()) return {};
    const auto& attr = failure.call.attr;
    OpenCall plain{};
    plain.attr.type = attr.type;
    plain.attr.size = attr.size;
    plain.attr.config = attr.config;
    plain.attr.config1 = attr.config1;
    plain.attr.config2 = attr.config2;
    plain.attr.config3 = attr.config3;
    plain.attr.config4 = attr.config4;
    plain.attr.bp_type = attr.bp_type;
    plain.attr.flags = attr.flags & (kExcludeKernel | kExcludeHv | kExcludeUser);
    plain.pid = failure.call.pid;
    plain.cpu = failure.call.cpu;
    plain.flags = failure.call.flags;
    if (failure.kernel.try_open(plain) != failure.errno_value) return {};
    return Cause{fmt::format("{} refuses the event itself, with nothing else requested (config {:#x}, config1 {:#x}, "
                             "config2 {:#x}, {})",
                             subject(failure), attr.config, attr.config1, attr.config2,
                             failure.call.pid == -1 ? "CPU-wide" : "on a process"),
                 "compare the terms with the PMU's format/ in sysfs, and the event with anyperf list"};
}

}  // namespace anyperf::host::causes
