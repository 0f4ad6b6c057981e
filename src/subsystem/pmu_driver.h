// pmu_driver.h: what a PMU has to tell and to do. Lists of PMUs are written out by who makes the Subsystem.
//
// Of the kernel's `init add del start stop read` the last three are not here: a count is what EventPage::source has
// grown by, so that to start, stop and read is the same for every PMU and done by the subsystem.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "anyperf/attr.h"
#include "subsystem/answer.h"
#include "subsystem/host.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/filter.h"
#include "subsystem/shared/probe.h"

namespace anyperf::subsystem {

/// An event as its PMU is asked for it.
struct EventRequest {
    const abi::Attr& attr;
    EventIndex event;      ///< its page, to be known by in add, del and destroy
    const TaskName* task;  ///< null: an event of a CPU, whatever runs there
    const TaskName& opener;
    bool privileged;      ///< kernel addresses and the like are allowed
    bool inherited;       ///< a child of an event that was accepted
    bool of_cpu = false;  ///< and what one task has of a CPU's event
    std::int32_t cpu = -1;
    bool may_probe = false;  ///< code of any process may be stopped (CAP_PERFMON)
    EventIndex parent = 0;   ///< of an inherited one: the event that was opened
    ProbedFile file = {};    ///< that config1 is the path of, where it may be one
    bool may_trace = false;  ///< raw data of every tracepoint is allowed (perf_event_paranoid -1, CAP_PERFMON)
};

/// How an event is counted.
struct Wiring {
    Source source;
    /// The counters it may stand on, a bit each; it needs one of them while active. 0: it needs none, and always fits.
    std::uint64_t counters = 0;
    /// Software in the kernel's sense, as are breakpoints, tracepoints and uprobes: it goes on beside an exclusive
    /// group, and any group may hold it.
    bool software = false;
    /// The PMU can't interrupt: sample_period must be 0.
    bool counts_only = false;
    /// Samples may come where NMIs do: only the monotonic clocks are good for use_clockid.
    bool monotonic_only = false;
    /// Not 0: sample_freq is turned into this period when the event is opened, and it has no frequency (clocks).
    std::uint64_t fixed_period = 0;
    /// A cpu-wide event counts the CPU itself by this source, not the sum of the run's tasks (cpu-clock).
    bool counts_cpu = false;
};

class Pmu {
  public:
    virtual ~Pmu() = default;

    /// As in sysfs, and attr.type.
    virtual std::string_view name() const = 0;
    virtual std::uint32_t type() const = 0;

    /// Whether it is its event, and if so how it is counted. ENOENT: another PMU may have it. Other refusals are final
    /// and come before those about rights and groups. What it sets aside (a breakpoint's slot) is freed by `destroy`.
    virtual Answer<Wiring> init(const EventRequest& request) = 0;
    /// The event is gone. Called once for each `init` that succeeded.
    virtual void destroy(EventIndex) {}

    /// It becomes active in this task: what makes it count is to be put in place. `del` when it is no longer.
    virtual void add(EventIndex, const TaskName&) {}
    virtual void del(EventIndex, const TaskName&) {}

    // ioctls that only some PMUs know; the defaults are what the others answer (measured on Linux 6.18).
    /// What a filter's text asks for; only where events take filters.
    virtual Answer<std::unique_ptr<Filter>> filter(const abi::Attr&, std::string_view) {
        return refuse(EINVAL, "events of this PMU take no filter");
    }
    /// Makes `attr`, the event's, what is `wanted`, in what may differ.
    virtual Answer<> modify(EventIndex, abi::Attr& /*attr*/, const abi::Attr& /*wanted*/) {
        return refuse(EOPNOTSUPP, "events of this PMU can't be modified");
    }
    /// PERF_EVENT_IOC_QUERY_BPF has an answer: tracepoints.
    virtual bool takes_bpf() const { return false; }
};

}  // namespace anyperf::subsystem
