// software.cpp: perf_swevent_init(), cpu_clock_event_init() and task_clock_event_init() of Linux 6.18.
#include "pmu/software.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "pmu/quantities.h"

namespace anyperf::pmu {
namespace {

using subsystem::refuse;
using subsystem::Source;

static_assert(std::ranges::equal(kSoftwareEvents, abi::kSoftware, {}, &SoftwareRow::name, &abi::Constant::name),
              "attr.config is the row's place");

bool is_clock(const SoftwareRow& row) {
    return row.source == Source::Kind::task_clock;
}

bool leaves_nothing(const SoftwareRow& row, std::uint64_t flags) {
    switch (row.mode) {
        case Mode::any: return false;
        case Mode::user: return flags & abi::flag("exclude_user");
        case Mode::kernel: return flags & abi::flag("exclude_kernel");
    }
    return false;
}

Source::Kind source_of(const SoftwareRow& row, const subsystem::EventRequest& request) {
    if (leaves_nothing(row, request.attr.flags)) return Source::Kind::nothing;
    return is_clock(row) && request.task == nullptr ? Source::Kind::cpu_clock : row.source;
}

/// A clock's frequency needs no adapting (perf_swevent_init_hrtimer()).
std::uint64_t fixed_period(const SoftwareRow& row, const abi::Attr& attr) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    if (!is_clock(row) || !(attr.flags & abi::flag("freq")) || attr.sample_period == 0) return 0;
    return std::max<std::uint64_t>(kSecond / attr.sample_period, 1);
}

}  // namespace

std::uint32_t SoftwarePmu::type() const {
    return abi::kTypeSoftware;
}

subsystem::Answer<subsystem::Wiring> SoftwarePmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != abi::kTypeSoftware) return refuse(ENOENT, "another PMU's type");
    if (attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK"))
        return refuse(EOPNOTSUPP, "software events have no branch stack");
    if (attr.config >= kSoftwareEvents.size()) return refuse(ENOENT, "no software event has this number");
    const SoftwareRow& row = kSoftwareEvents[attr.config];
    const bool modelled = options_.modelled_time && is_clock(row);
    return subsystem::Wiring{
        .source = modelled ? modelled_nanoseconds() : subsystem::Source{.kind = source_of(row, request)},
        .software = true,
        .fixed_period = fixed_period(row, attr),
        .counts_cpu = is_clock(row) && request.task == nullptr && !modelled,
    };
}

}  // namespace anyperf::pmu
