// software_pmu.cpp: accepts and refuses as perf_swevent_init(), cpu_clock_event_init() and task_clock_event_init() of
// Linux 6.18 (kernel/events/core.c) do. In the kernel the two clocks are PMUs of their own; here they are rows of the
// same table.
#include "pmu/software_pmu.h"

#include <algorithm>
#include <bit>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "engine/x86_64/decode/classes.h"
#include "run/run_clock.h"

namespace anyperf::pmu {
namespace {

using subsystem::refuse;
using subsystem::Source;

static_assert(std::ranges::equal(kSoftwareEvents, abi::kSoftware, {}, &SoftwareRow::name, &abi::Constant::name),
              "attr.config is the index of the row");

bool is_clock(const SoftwareRow& row) {
    return row.source == Source::Kind::task_clock;
}

/// Whether the attr excludes every occurrence of the event. Such an event opens and counts 0, as on Linux.
bool is_suppressed(const SoftwareRow& row, std::uint64_t flags) {
    switch (row.suppressed_by) {
        case SuppressedBy::nothing: return false;
        case SuppressedBy::exclude_user: return flags & abi::flag("exclude_user");
        case SuppressedBy::exclude_kernel: return flags & abi::flag("exclude_kernel");
    }
    return false;
}

/// A clock event without a task counts the CPU's time, not the time that tasks have run.
Source::Kind source_of(const SoftwareRow& row, const subsystem::EventRequest& request) {
    if (is_suppressed(row, request.attr.flags)) return Source::Kind::nothing;
    return is_clock(row) && request.task == nullptr ? Source::Kind::cpu_clock : row.source;
}

/// The period in ns of a clock event with sample_freq; 0 for all others, which keep their period or frequency. A
/// clock's rate is constant, so its frequency becomes a fixed period when the event is opened, and is never adapted
/// (perf_swevent_init_hrtimer()).
std::uint64_t fixed_period(const SoftwareRow& row, const abi::Attr& attr) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    if (!is_clock(row) || !(attr.flags & abi::flag("freq")) || attr.sample_period == 0) return 0;
    return std::max<std::uint64_t>(kSecond / attr.sample_period, 1);
}

/// The CPU time of a thread as it reads it itself: four retired instructions take a nanosecond.
constexpr subsystem::Source kRunCpuTime{
    .kind = subsystem::Source::Kind::counters,
    .terms = 1,
    .shift = static_cast<std::uint8_t>(std::countr_zero(run::kUnitsOfNanosecond / run::kUnitsOfInstruction)),
    .term = {{static_cast<std::uint32_t>(engine::x86_64::Class::instructions), 1}}};

}  // namespace

std::uint32_t SoftwarePmu::type() const {
    return abi::kTypeSoftware;
}

subsystem::Answer<subsystem::Wiring> SoftwarePmu::init(const subsystem::EventRequest& request) {
    const abi::Attr& attr = request.attr;
    if (attr.type != abi::kTypeSoftware) return refuse(ENOENT, "another PMU's type");
    if (attr.sample_type & abi::sample("PERF_SAMPLE_BRANCH_STACK"))
        return refuse(EOPNOTSUPP, "software events have no branch stack");
    if (attr.config >= kSoftwareEvents.size()) return refuse(ENOENT, "there is no software event with this number");
    const SoftwareRow& row = kSoftwareEvents[attr.config];
    const bool by_run_clock = options_.run_clock && is_clock(row);
    return subsystem::Wiring{
        .source = by_run_clock ? kRunCpuTime : subsystem::Source{.kind = source_of(row, request)},
        .software = true,
        .fixed_period = fixed_period(row, attr),
        .counts_cpu = is_clock(row) && request.task == nullptr && !by_run_clock,
    };
}

}  // namespace anyperf::pmu
