// pmu_driver.h: the interface of a PMU, as struct pmu of the kernel. The program that makes the Subsystem passes its
// list of PMUs.
//
// It has the kernel's callbacks event_init, add and del, but not start, stop and read: a count is the growth of
// EventPage::source, so the subsystem starts, stops and reads the events of all PMUs in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "anyperf/attr.h"
#include "subsystem/answer.h"
#include "subsystem/host.h"
#include "subsystem/permissions.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/filter.h"
#include "subsystem/shared/probe.h"

namespace anyperf::subsystem {

/// An event that a PMU is asked to accept.
struct EventRequest {
    const abi::Attr& attr;
    EventIndex event;    ///< the index of its page; identifies the event in add, del, modify and destroy
    const TaskId* task;  ///< null: a cpu-wide event
    const TaskId& opener;
    const Rights& rights;        ///< of the opener
    bool inherited;              ///< a child of an event that init() has accepted
    bool cpu_wide_part = false;  ///< a child that counts one task for a cpu-wide event
    std::int32_t cpu = -1;       ///< the only CPU on which it counts; -1: on every CPU
    EventIndex parent = 0;       ///< of a child: the event that was opened
    ProbedFile file = {};        ///< the file at the path in config1, for PMUs that take one
};

/// How an event is counted, as its PMU decides in init().
struct Wiring {
    Source source;
    /// The counters that can hold the event, a bit each. It occupies one of them while it counts. 0: it needs none and
    /// always fits.
    std::uint64_t counters = 0;
    /// A software event in the kernel's sense, as breakpoints, tracepoints and uprobes are: it runs beside an exclusive
    /// group, and any group may contain it.
    bool software = false;
    /// The PMU has no interrupt: sample_period must be 0 (EOPNOTSUPP).
    bool counts_only = false;
    /// Samples may come in NMI context, where only the monotonic clocks can be read (use_clockid).
    bool monotonic_only = false;
    /// If not 0: an event opened with sample_freq gets this fixed period instead, as the kernel's clock events do.
    std::uint64_t fixed_period = 0;
    /// The count of a cpu-wide event is the CPU's own clock, not the sum over the run's tasks (cpu-clock, task-clock).
    bool counts_cpu = false;
};

class Pmu {
  public:
    virtual ~Pmu() = default;

    /// The PMU's name in sysfs, and its attr.type.
    virtual std::string_view name() const = 0;
    virtual std::uint32_t type() const = 0;

    /// Decides whether the event belongs to this PMU, and how it is counted. ENOENT passes it on to the next PMU; any
    /// other refusal is final and precedes the checks of rights and groups. init() may reserve resources, such as a
    /// breakpoint slot.
    virtual Answer<Wiring> init(const EventRequest& request) = 0;
    /// Releases what init() has reserved. Called once for each successful init(), when the event ends.
    virtual void destroy(EventIndex) {}

    /// add(): the event begins to count in this task; the PMU puts in place what it needs for that. del(): it stops
    /// counting.
    virtual void add(EventIndex, const TaskId&) {}
    virtual void del(EventIndex, const TaskId&) {}

    // ---- ioctls of some PMUs; the defaults are the answers of all others, measured on Linux 6.18 ----
    /// Parses the text of PERF_EVENT_IOC_SET_FILTER.
    virtual Answer<std::unique_ptr<Filter>> filter(const abi::Attr&, std::string_view) {
        return refuse(EINVAL, "events of this PMU can't have a filter");
    }
    /// PERF_EVENT_IOC_MODIFY_ATTRIBUTES: copies from `wanted` to the event's `attr` the fields that may change.
    virtual Answer<> modify(EventIndex, abi::Attr& /*attr*/, const abi::Attr& /*wanted*/) {
        return refuse(EOPNOTSUPP, "events of this PMU can't be modified");
    }
    /// Whether PERF_EVENT_IOC_QUERY_BPF has an answer (tracepoints).
    virtual bool takes_bpf() const { return false; }
};

}  // namespace anyperf::subsystem
