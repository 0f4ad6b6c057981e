// plan.cpp: the questions are asked in this order. Does the user demand the kernel or the virtual PMU (--kernel,
// --virtual)? Does this machine know the event strings, or only the presented one? Can the kernel count the events?
// Only a command that anyperf starts can run under the virtual PMU. A note says what was chosen, unless an option said
// so.
#include "cli/record/plan.h"

#include <fmt/format.h>

#include <utility>

#include "abi/attr_flags.h"
#include "cli/command/control_channel.h"
#include "cli/stat/events/virtual_events.h"
#include "host/usability.h"
#include "recording/merged/off_cpu.h"
#include "try.h"

namespace anyperf::cli::record {

namespace {

constexpr const char* kDefaultEvent = "cycles";
constexpr const char* kDefaultWithoutPmu = "cpu-clock";
constexpr const char* kCountsExactly = "counting every instruction in user space (virtual PMU): user mode only";
constexpr const char* kRecordsInUserSpace = "recording in user space (virtual PMU): user mode only";

/// --all-user and --all-kernel, in addition to the modifiers of each event.
void restrict_levels(const Options& options, std::vector<events::EventGroup>& groups) {
    std::uint64_t without = options.all_kernel ? abi::flag("exclude_user") : 0;
    if (options.all_user) without |= abi::flag("exclude_kernel") | abi::flag("exclude_hv");
    for (auto& group : groups)
        for (auto& event : group.events) event.attr.flags |= without;
}

/// The events of -e, for each group the filter, and the events of --switch-output-event.
struct Parsed {
    std::vector<events::EventGroup> groups, switch_groups;
    std::vector<std::string> filters;
};

Result<Parsed> parse_events(const Options& options, const events::Machine& machine) {
    Parsed parsed;
    const std::vector<std::string> texts =
        options.events.empty() ? std::vector<std::string>{kDefaultEvent} : options.events;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string filter = filter_of(options.event_filters, i);
        for (auto& group : TRY(events::parse(machine, texts[i], events::CatalogScope::this_machine))) {
            TRY(check_filter(filter, group));
            parsed.groups.push_back(std::move(group));
            parsed.filters.push_back(filter);
        }
    }
    restrict_levels(options, parsed.groups);
    for (const std::string& text : options.switch_at_events)
        for (auto& group : TRY(events::parse(machine, text, events::CatalogScope::this_machine)))
            parsed.switch_groups.push_back(std::move(group));
    return parsed;
}

void use(Plan& plan, Parsed parsed) {
    plan.groups = std::move(parsed.groups);
    plan.switch_groups = std::move(parsed.switch_groups);
    plan.filters = std::move(parsed.filters);
}

/// A plan for the virtual PMU. `why`: the reason, or empty if the user wanted it.
Result<Plan> plan_in_user_space(const Options& options, const std::string& why) {
    if (!options.threads.empty())
        return std::unexpected(
            Error{"cannot record with --threads",
                  fmt::format("{}{}one thread empties the rings of the virtual PMU", why, why.empty() ? "" : ", and "),
                  "use --kernel and an event that it can count, such as -e cpu-clock"});
    Plan plan;
    plan.exact = wants_exact(options);
    // -g leaves the way to find callers to anyperf. Here the exact one costs least.
    const bool exact_callers = options.sampling.call_graph == recording::CallGraph::exact ||
                               (options.frame_pointers && options.call_graph.empty());
    plan.hosted = TRY(HostedRun::begin(options.backend, {.exact = plan.exact,
                                                         .exact_callers = exact_callers,
                                                         .python_frames = !options.no_python,
                                                         .programs_switch = options.delay_ms == kDelayForever}));
    plan.notes.push_back(
        fmt::format("{}{}{}", why, why.empty() ? "" : ": ", plan.exact ? kCountsExactly : kRecordsInUserSpace));
    if (plan.exact) return plan;
    use(plan,
        TRY(plan.hosted->read_events([&](const events::Machine& machine) { return parse_events(options, machine); })));
    for (auto* const groups : {&plan.groups, &plan.switch_groups})
        for (auto& group : *groups)
            for (auto& event : group.events) event = stat::for_virtual_pmu(std::move(event));
    return plan;
}

bool only_presented_machine_knows(const Options& options) {
    return options.targets_command() && !options.backend.kernel && !options.off_cpu &&
           only_presented_machine_accepts(
               [&](const events::Machine& machine) { return parse_events(options, machine).has_value(); });
}

/// Each context switch, with the callers in user space (recording/merged/off_cpu.h). Threads wait in functions of libc,
/// which keep no frame pointers, so a chain of frame pointers lacks the function that called libc. Therefore callers
/// are unwound from a copy of the stack unless the user chose a way. There may be many switches, so the copy is small.
Result<events::EventGroup> off_cpu_group(const Options& options) {
    std::string text = "context-switches/period=1/";
    if (options.sampling.call_graph == recording::CallGraph::none)
        text = "context-switches/period=1,call-graph=dwarf,stack-size=16384/";
    else if (options.sampling.call_graph != recording::CallGraph::stacks)
        text = "context-switches/period=1,call-graph=fp/";
    auto groups = TRY(events::parse(events::Machine::read(), text, events::CatalogScope::this_machine));
    events::Event& event = groups.front().events.front();
    event.name = recording::kOffCpuEvent;
    event.attr.flags |= abi::flag("exclude_callchain_kernel");
    return std::move(groups.front());
}

Result<Plan> choose_recorder(const Options& options) {
    const bool inside = TRY(already_in_run(options.backend));
    if (options.exact && inside)
        return std::unexpected(Error{"cannot count exactly", "this is a program of a run, which is measured already",
                                     "use --exact outside of `anyperf run`"});
    const bool exact_callers = options.sampling.call_graph == recording::CallGraph::exact;
    if (exact_callers && (inside || !options.targets_command() || options.backend.kernel))
        return std::unexpected(Error{"cannot record exact callers",
                                     "only the virtual PMU knows them, of a command that this verb starts",
                                     inside ? "give --call-graph exact to the outer anyperf run, and -g here"
                                            : "record a command without --kernel, or use --call-graph dwarf"});
    if ((options.backend.wants_virtual() || options.exact || exact_callers) && !inside)
        return plan_in_user_space(options, "");
    const auto machine = events::Machine::read();
    auto parsed = parse_events(options, machine);
    if (!parsed && !inside && only_presented_machine_knows(options)) return plan_in_user_space(options, kNoPmu);
    Plan plan;
    use(plan, TRY(std::move(parsed)));
    if (inside) return plan;
    const auto why = why_kernel_cannot_count(plan.groups);
    const bool may_host = options.targets_command() && !options.backend.kernel && !options.off_cpu;
    if (why && may_host) return plan_in_user_space(options, *why);
    if (const auto killer = host::why_opening_kills("events")) return std::unexpected(*killer);
    if (why && options.events.empty()) {
        plan.groups = TRY(events::parse(machine, kDefaultWithoutPmu, events::CatalogScope::this_machine));
        plan.notes.push_back(fmt::format("{}: recording {} instead of {}", *why, kDefaultWithoutPmu, kDefaultEvent));
    }
    return plan;
}

}  // namespace

Result<Plan> make_plan(const Options& options) {
    Plan plan = TRY(choose_recorder(options));
    if (options.off_cpu) plan.groups.push_back(TRY(off_cpu_group(options)));
    return plan;
}

}  // namespace anyperf::cli::record
