// fake_pmu.h: two PMUs for tests. `cpu` counts counter `config` of a task and may have few hardware counters.
// `software` has a dummy, page faults, a clock and an event that the thread counts itself; its events need no hardware
// counter.
#pragma once

#include <set>

#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::subsystem {

class FakeCpuPmu final : public Pmu {
  public:
    std::uint64_t counters = 0;  ///< the hardware counters, a bit each; 0: no limit
    std::set<EventIndex> held;   ///< events after init() and before destroy()
    std::set<EventIndex> on;     ///< events after add() and before del()

    std::string_view name() const override { return "cpu"; }
    std::uint32_t type() const override { return abi::kTypeRaw; }

    Answer<Wiring> init(const EventRequest& request) override {
        if (request.attr.type != type()) return refuse(ENOENT, "another PMU's");
        if (request.attr.config >= 16) return refuse(EINVAL, "no such counter");
        held.insert(request.event);
        Wiring wiring;
        wiring.source.kind = Source::Kind::counters;
        wiring.source.terms = 1;
        wiring.source.term[0] = {static_cast<std::uint32_t>(request.attr.config), 1};
        wiring.counters = counters;
        return wiring;
    }
    void destroy(EventIndex event) override { held.erase(event); }
    void add(EventIndex event, const TaskId&) override { on.insert(event); }
    void del(EventIndex event, const TaskId&) override { on.erase(event); }
};

class FakeSoftwarePmu final : public Pmu {
  public:
    static constexpr std::uint64_t kClock = 0, kFaults = 2, kDummy = 9, kCountedByThread = 10;

    std::string_view name() const override { return "software"; }
    std::uint32_t type() const override { return abi::kTypeSoftware; }

    Answer<Wiring> init(const EventRequest& request) override {
        if (request.attr.type != type()) return refuse(ENOENT, "another PMU's");
        if ((request.attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
            return refuse(EOPNOTSUPP, "software has no branch stack");
        if (request.attr.config >= abi::kSoftware.size()) return refuse(ENOENT, "no such software event");
        Wiring wiring;
        wiring.software = true;
        if (request.attr.config == kFaults) wiring.source.kind = Source::Kind::page_faults;
        if (request.attr.config == kCountedByThread) wiring.source.kind = Source::Kind::occurrences;
        if (request.attr.config == kClock) {
            wiring.source.kind = Source::Kind::task_clock;
            wiring.counts_cpu = true;
            if (request.attr.sample_period != 0) wiring.fixed_period = 1'000'000'000 / request.attr.sample_period;
        }
        return wiring;
    }
};

}  // namespace anyperf::subsystem
