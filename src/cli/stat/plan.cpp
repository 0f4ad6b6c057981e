// plan.cpp: turns options into events and targets.
#include "cli/stat/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "cli/stat/events/default_events.h"
#include "cli/stat/events/tool_events.h"
#include "cli/stat/vendor_metrics/metric_plan.h"
#include "host/hardware/cpus.h"
#include "host/process/cgroups.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

using counting::Target;

/// Applies --all-user or --all-kernel to every event, in addition to its modifiers.
void restrict_levels(std::vector<events::EventGroup>& groups, const Options& options) {
    std::uint64_t without = 0;
    if (options.all_user) without = abi::flag("exclude_kernel") | abi::flag("exclude_hv");
    if (options.all_kernel) without = abi::flag("exclude_user");
    for (auto& group : groups)
        for (auto& event : group.events) event.attr.flags |= without;
}

/// Groups of events. For each group: its filter, and its set of events of -M (planned_metric.h).
struct Parsed {
    std::vector<events::EventGroup> groups;
    std::vector<std::string> filters;
    std::vector<std::size_t> metric_sets;
};

/// The events of -e, or without -e and -M the default ones, plus those of -d. Several -e are parsed one by one, so a
/// group cannot span them.
Result<Parsed> parse_events(const Options& options, const events::Machine& machine) {
    Parsed parsed;
    if (options.no_events) return parsed;
    std::vector<std::string> texts = options.events;
    if (texts.empty() && options.metrics.empty())
        texts.push_back(default_events(options.detail, options.in_user_space));
    else if (options.detail > 0)
        texts.push_back(detail_events(options.detail));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string filter = filter_of(options.event_filters, i);
        for (auto& group :
             TRY(events::parse(machine, with_placeholders(texts[i]), events::CatalogScope::this_machine))) {
            TRY(check_filter(filter, group));
            parsed.groups.push_back(std::move(group));
            parsed.filters.push_back(filter);
            parsed.metric_sets.push_back(0);
        }
    }
    return parsed;
}

/// The tasks or CPUs that the options select; cgroup_scopes() and each_cgroup_scopes() add the cgroups. An option that
/// is checked earlier takes precedence: -C over -a. Without any of them the command is the target.
Target target_of(const Options& options) {
    if (!options.pid_numbers.empty()) return Target::processes(options.pid_numbers);
    if (!options.tid_numbers.empty()) return Target::threads(options.tid_numbers);
    if (!options.cpus.empty()) return Target::on_cpus(options.cpus);
    if (options.all_threads()) return Target::threads({});  // OpenCounters::open() fills in the ids
    if (options.system_wide) return Target::system();
    return Target::self();  // OpenCounters::open() replaces it by the command's pid
}

/// The target for the headline of the table, in perf's words.
std::string name_of(const Options& options) {
    if (!options.pid_numbers.empty()) return fmt::format("process id '{}'", fmt::join(options.pid_numbers, ","));
    if (!options.tid_numbers.empty()) return fmt::format("thread id '{}'", fmt::join(options.tid_numbers, ","));
    if (!options.cpus.empty()) return fmt::format("'CPU(s) {}'", host::to_cpu_list(options.cpus));
    if (options.system_wide || options.counts_cgroups()) return "'system wide'";
    return fmt::format("'{}'", fmt::join(options.command, " "));
}

/// The pieces between commas. An empty one is kept: with -G its event is counted for all tasks.
std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names;
    for (const auto piece : std::views::split(text, ',')) names.emplace_back(piece.begin(), piece.end());
    return names;
}

/// The names of all -G.
std::vector<std::string> cgroup_names(const Options& options) {
    std::vector<std::string> names;
    for (const auto& text : options.cgroups) std::ranges::copy(names_in(text), std::back_inserter(names));
    return names;
}

/// The target of one cgroup. An empty name means all tasks.
Result<Target> cgroup_target(const Options& options, const std::string& name) {
    if (name.empty()) return target_of(options).cpu_wide() ? target_of(options) : Target::system();
    return Target::cgroup(TRY(host::cgroup_directory(host::Root{}, name)), options.cpus);
}

/// Distributes events over cgroups by perf's rule. One cgroup is for all events. Each of several cgroups is for one
/// event or group, in order; with an empty name, that event is counted for all tasks.
Result<std::vector<Scope>> cgroup_scopes(const Options& options, Parsed parsed) {
    const auto names = cgroup_names(options);
    std::vector<Scope> scopes;
    if (names.size() == 1) {
        auto target = TRY(cgroup_target(options, names.front()));
        scopes.push_back({std::move(target), std::move(parsed.groups), names.front(), std::move(parsed.filters),
                          std::move(parsed.metric_sets)});
        return scopes;
    }
    const std::size_t groups = parsed.groups.size();
    if (names.size() != groups)
        return std::unexpected(Error{fmt::format("cannot assign {} cgroups to {} events", names.size(), groups),
                                     "each of several cgroups is for one event or group, in order",
                                     "give one cgroup for all events, or as many as there are -e events"});
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto target = TRY(cgroup_target(options, names[i]));
        scopes.push_back(
            {std::move(target), {std::move(parsed.groups[i])}, names[i], {parsed.filters[i]}, {parsed.metric_sets[i]}});
    }
    return scopes;
}

/// All events for each cgroup. As in perf, a name with a special character of regular expressions is a regular
/// expression, and empty names are skipped.
Result<std::vector<Scope>> each_cgroup_scopes(const Options& options, const Parsed& parsed) {
    std::vector<std::string> names;
    for (const auto& name : names_in(options.each_cgroup)) {
        if (name.empty()) continue;
        if (name.find_first_of("{}[]()|*+?^$") == std::string::npos)
            names.push_back(name);
        else
            std::ranges::copy(TRY(host::matching_cgroups(host::Root{}, name)), std::back_inserter(names));
    }
    if (names.empty())
        return std::unexpected(Error{"bad --for-each-cgroup " + options.each_cgroup, "no cgroup has such a name",
                                     "give names of cgroups, separated by commas, or a basic regular expression"});
    std::vector<Scope> scopes;
    scopes.reserve(names.size());
    for (const auto& name : names) {
        auto target = TRY(cgroup_target(options, name));
        scopes.push_back({std::move(target), parsed.groups, name, parsed.filters, parsed.metric_sets});
    }
    return scopes;
}

/// Checks that the CPUs are online. The kernel refuses an offline CPU with a bare ENODEV; this error names the CPUs
/// that are online.
Result<void> check_cpus(const std::vector<int>& wanted) {
    if (wanted.empty()) return {};
    const auto online = TRY(host::online_cpus(host::Root{}));
    for (const int cpu : wanted)
        if (!std::ranges::binary_search(online, cpu))
            return std::unexpected(
                Error{fmt::format("cannot count CPU {}", cpu),
                      fmt::format("it is not online: this machine has {}", host::to_cpu_list(online)),
                      "give CPUs from that list with -C"});
    return {};
}

/// Adds the events of -M after those of -e.
void add_metrics(MetricPlan metrics, Parsed& parsed, Plan& plan) {
    for (std::size_t i = 0; i < metrics.groups.size(); ++i) {
        parsed.groups.push_back(std::move(metrics.groups[i]));
        parsed.filters.emplace_back();
        parsed.metric_sets.push_back(metrics.sets[i]);
    }
    if (!metrics.metrics.empty()) plan.metrics = std::make_shared<const PlannedMetrics>(std::move(metrics.metrics));
    plan.notes = std::move(metrics.notes);
}

}  // namespace

Result<Plan> make_plan(const Options& options, const events::Machine& machine) {
    TRY(check_cpus(options.cpus));
    Plan plan;
    plan.target_name = name_of(options);
    auto parsed = TRY(parse_events(options, machine));
    add_metrics(TRY(plan_metrics(options, machine)), parsed, plan);
    restrict_levels(parsed.groups, options);
    Target target = target_of(options);
    plan.targets_command = target.kind == Target::Kind::self && !options.counts_cgroups();
    // With a command, the command ends the counting; without one, the end of the counted tasks does.
    if (options.command.empty()) plan.awaited = target.ids;
    if (options.splits_by_cpu() && !target.cpu_wide())
        target.cpus = TRY(host::online_cpus(host::Root{}));  // each event of a task is opened once for each CPU
    if (!options.counts_cgroups())
        plan.scopes.push_back({std::move(target), std::move(parsed.groups), "", std::move(parsed.filters),
                               std::move(parsed.metric_sets)});
    else if (options.each_cgroup.empty())
        plan.scopes = TRY(cgroup_scopes(options, std::move(parsed)));
    else
        plan.scopes = TRY(each_cgroup_scopes(options, parsed));
    return plan;
}

}  // namespace anyperf::cli::stat
