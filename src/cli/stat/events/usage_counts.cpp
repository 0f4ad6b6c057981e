// usage_counts.cpp: takes context switches from the usage of a command.
//
// context-switches needs privileges where kernel.perf_event_paranoid is 2, because they happen in kernel mode. But the
// kernel counts them for each process anyway, and wait4(2) returns the sum of a command and its children. That sum can
// replace the event only if the event is counted for the whole command, from its exec to its end, with all its
// processes, and as one number.
#include "cli/stat/events/usage_counts.h"

#include <fmt/format.h>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "broker/host/proc_task.h"

namespace anyperf::cli::stat {

bool is_in_usage(const events::Event& event, const Plan& plan, const Options& options) {
    constexpr std::uint64_t kSwitches = 3;  // PERF_COUNT_SW_CONTEXT_SWITCHES
    constexpr std::uint64_t kModes = abi::flag("exclude_kernel") | abi::flag("exclude_user");
    const bool whole_command = plan.targets_command && !options.in_user_space && !options.no_inherit &&
                               !options.splits_by_cpu() && !options.per_thread;
    const bool whole_time = options.delay_ms == 0 && options.interval_ms == 0 && options.control.empty();
    return event.attr.type == abi::kTypeSoftware && event.attr.config == kSwitches &&
           (event.attr.flags & kModes) == 0 && whole_command && whole_time;
}

// The process has already switched while it waited for its exec. Those switches are subtracted.
std::uint64_t context_switches_until_now(pid_t process) {
    return broker::context_switches_of(process, process).value_or(0);
}

void fill_from_usage(Report& report, const Plan& plan, const Options& options, const rusage& usage,
                     std::uint64_t before) {
    const auto all = static_cast<std::uint64_t>(usage.ru_nvcsw) + static_cast<std::uint64_t>(usage.ru_nivcsw);
    for (auto& line : report.lines) {
        if (!line.refusal || !is_in_usage(line.event, plan, options)) continue;
        line.refusal.reset();
        line.count.raw = line.count.value = all > before ? all - before : 0;
        line.count.enabled_ns = line.count.running_ns = report.wall_ns;
        report.notes.push_back(fmt::format(
            "{}: from the command's resource usage (wait4): with the start and end of each process, and only of "
            "children that were waited for",
            line.name));
    }
}

}  // namespace anyperf::cli::stat
