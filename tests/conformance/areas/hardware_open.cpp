// hardware_open.cpp: which hardware events can be opened: PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE and PERF_TYPE_RAW of
// the manual.
#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"
#include "suite/workload.h"

namespace conformance {

namespace {

struct GenericEvent {
    const char* name;
    std::uint64_t config;
    bool everywhere;  ///< on every CPU; others may be ENOENT or EINVAL
};

constexpr std::array kGenericEvents{
    GenericEvent{"cpu_cycles", PERF_COUNT_HW_CPU_CYCLES, true},
    GenericEvent{"instructions", PERF_COUNT_HW_INSTRUCTIONS, true},
    GenericEvent{"cache_references", PERF_COUNT_HW_CACHE_REFERENCES, false},
    GenericEvent{"cache_misses", PERF_COUNT_HW_CACHE_MISSES, false},
    GenericEvent{"branch_instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true},
    GenericEvent{"branch_misses", PERF_COUNT_HW_BRANCH_MISSES, false},
    GenericEvent{"bus_cycles", PERF_COUNT_HW_BUS_CYCLES, false},
    GenericEvent{"stalled_cycles_frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false},
    GenericEvent{"stalled_cycles_backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false},
    GenericEvent{"ref_cpu_cycles", PERF_COUNT_HW_REF_CPU_CYCLES, false},
};

Attr of_type(std::uint32_t type, std::uint64_t config) {
    return changed(instructions(), [&](Attr& a) {
        a.type = type;
        a.config = config;
    });
}

constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
    return which | operation << 8 | result << 16;
}

/// Succeeds, or fails because the CPU lacks the event.
void want_open_or_unknown(const Attr& attr) {
    const long result = result_of(attr);
    if (result != -ENOENT && result != -EINVAL) want_result("perf_event_open", result, 0);
}

constexpr std::array kRows{
    OpenRow{"generic_10", "PERF_TYPE_HARDWARE: config 10 is unknown", EINVAL, [](Call& c) { c.attr.config = 10; },
            kHardware},
    OpenRow{"generic_255", "PERF_TYPE_HARDWARE: config 255 is unknown", EINVAL, [](Call& c) { c.attr.config = 255; },
            kHardware},
    OpenRow{"generic_of_cpu", "the upper half of config may hold the type of the PMU", 0,
            [](Call& c) { c.attr.config |= std::uint64_t{PERF_TYPE_RAW} << 32; }, kHardware},
    OpenRow{"cache_unknown", "PERF_TYPE_HW_CACHE: cache 7 is EINVAL", EINVAL,
            [](Call& c) { c.attr = of_type(PERF_TYPE_HW_CACHE, cache(7, 0, 0)); }, kHardware},
    OpenRow{"cache_operation_unknown", "PERF_TYPE_HW_CACHE: operation 3 is EINVAL", EINVAL,
            [](Call& c) { c.attr = of_type(PERF_TYPE_HW_CACHE, cache(0, 3, 0)); }, kHardware},
    OpenRow{"cache_result_unknown", "PERF_TYPE_HW_CACHE: result 2 is EINVAL", EINVAL,
            [](Call& c) { c.attr = of_type(PERF_TYPE_HW_CACHE, cache(0, 0, 2)); }, kHardware},
    OpenRow{"l1d_read_access", "PERF_TYPE_HW_CACHE: read accesses of L1D open", 0,
            [](Call& c) { c.attr = of_type(PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, 0, 0)); }, kHardware},
    OpenRow{"period", "a hardware event may have a sample_period", 0, [](Call& c) { c.attr.sample_period = 1000; },
            kHardware},
    OpenRow{"frequency", "a hardware event may have a sample_freq", 0,
            [](Call& c) {
                c.attr.freq = 1;
                c.attr.sample_freq = 1000;
            },
            kHardware},
    OpenRow{"branch_no_type", "a branch stack without a branch type is refused", EINVAL,
            [](Call& c) {
                c.attr.sample_period = 1000;
                c.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
            },
            kHardware},
    OpenRow{"pinned", "a leader may be pinned", 0, [](Call& c) { c.attr.pinned = 1; }, kHardware},
    OpenRow{"exclusive", "a leader may be exclusive", 0, [](Call& c) { c.attr.exclusive = 1; }, kHardware},
    OpenRow{"on_a_cpu", "an event may be bound to a CPU", 0, [](Call& c) { c.cpu = allowed_cpus().at(0); }, kHardware},
    OpenRow{"cpu_wide", "a CPU-wide event opens", 0,
            [](Call& c) {
                c.pid = -1;
                c.cpu = allowed_cpus().at(0);
            },
            kHardware | kRoot},
    OpenRow{"clock_realtime", "CLOCK_REALTIME is refused: in NMI context it can't be read", EINVAL,
            [](Call& c) {
                c.attr.use_clockid = 1;
                c.attr.clockid = 0;
            },
            kHardware},
    OpenRow{"clock_monotonic_raw", "CLOCK_MONOTONIC_RAW is accepted: in NMI context it can be read", 0,
            [](Call& c) {
                c.attr.use_clockid = 1;
                c.attr.clockid = 4;
            },
            kHardware},
};

void precise(unsigned level) {
    const long max_precise = read_number("/sys/bus/event_source/devices/cpu/caps/max_precise").value_or(0);
    const Attr attr = changed(instructions(1000), [&](Attr& a) { a.precise_ip = level & 3; });
    if (static_cast<long>(level) > max_precise) return want_result("perf_event_open", result_of(attr), EOPNOTSUPP);
    want_result("perf_event_open", result_of(attr), 0);
}

}  // namespace

std::vector<Case> hardware_open_cases() {
    std::vector<Case> cases = open_cases(kRows, instructions());
    for (const GenericEvent& row : kGenericEvents)
        cases.push_back(
            {std::string{"generic."} + row.name,
             std::string{"the generic event "} + row.name + (row.everywhere ? " opens" : " opens or is unknown"),
             kHardware, [&row] {
                 if (row.everywhere) return want_result("perf_event_open", result_of(hardware(row.config)), 0);
                 want_open_or_unknown(hardware(row.config));
             }});
    for (std::uint64_t which = 0; which < PERF_COUNT_HW_CACHE_MAX; ++which)
        cases.push_back(
            {"cache." + std::to_string(which),
             "PERF_TYPE_HW_CACHE: each operation and result of cache " + std::to_string(which) + " opens or is unknown",
             kHardware, [which] {
                 for (std::uint64_t operation = 0; operation < 3; ++operation)
                     for (std::uint64_t result = 0; result < 2; ++result)
                         want_open_or_unknown(of_type(PERF_TYPE_HW_CACHE, cache(which, operation, result)));
             }});
    for (unsigned level = 0; level <= 3; ++level)
        cases.push_back({"precise_" + std::to_string(level),
                         "precise_ip " + std::to_string(level) +
                             " is accepted if caps/max_precise is that or more, else EOPNOTSUPP",
                         kHardware, [level] { precise(level); }});
    return cases;
}

}  // namespace conformance
