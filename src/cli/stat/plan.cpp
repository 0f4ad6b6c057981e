// plan.cpp: see plan.h.
#include "cli/stat/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "abi/attr_flags.h"
#include "cli/stat/default_events.h"
#include "cli/stat/tool_clocks.h"
#include "host/cgroups.h"
#include "host/cpus.h"

namespace anyperf::cli::stat {

namespace {

using counting::Target;

/// --all-user, --all-kernel: what they leave out is left out of every event, whatever its modifiers say.
void restrict_levels(std::vector<events::EventGroup>& groups, const Options& options) {
    std::uint64_t without = 0;
    if (options.all_user) without = abi::flag("exclude_kernel") | abi::flag("exclude_hv");
    if (options.all_kernel) without = abi::flag("exclude_user");
    for (auto& group : groups)
        for (auto& event : group.events) event.attr.flags |= without;
}

Result<std::vector<events::EventGroup>> parse_events(const Options& options, const events::Machine& machine) {
    if (options.no_events) return std::vector<events::EventGroup>{};
    std::vector<events::EventGroup> groups;
    std::vector<std::string> texts = options.events;
    if (texts.empty())
        texts.push_back(default_events(options.detail));
    else if (options.detail > 0)
        texts.push_back(detail_events(options.detail));
    for (const auto& text : texts)
        for (auto& group : TRY(events::parse(machine, with_stand_ins(text), events::Whose::this_machine)))
            groups.push_back(std::move(group));
    restrict_levels(groups, options);
    return groups;
}

Target target_of(const Options& options) {
    if (!options.pid_numbers.empty()) return Target::processes(options.pid_numbers);
    if (!options.tid_numbers.empty()) return Target::threads(options.tid_numbers);
    if (!options.cpus.empty()) return Target::on_cpus(options.cpus);
    if (options.system_wide) return Target::system();
    return Target::self();  // the command, once it has a pid
}

std::string name_of(const Options& options) {
    if (!options.pid_numbers.empty()) return fmt::format("process id '{}'", fmt::join(options.pid_numbers, ","));
    if (!options.tid_numbers.empty()) return fmt::format("thread id '{}'", fmt::join(options.tid_numbers, ","));
    if (!options.cpus.empty()) return fmt::format("'CPU(s) {}'", host::to_cpu_list(options.cpus));
    if (options.system_wide || !options.cgroups.empty()) return "'system wide'";
    return fmt::format("'{}'", fmt::join(options.command, " "));
}

std::vector<std::string> cgroup_names(const Options& options) {
    std::vector<std::string> names;
    for (const auto& text : options.cgroups)
        for (const auto piece : std::views::split(text, ',')) names.emplace_back(piece.begin(), piece.end());
    return names;
}

/// One cgroup is for all events; several are for one event each, an empty name leaves its event to everybody (perf's
/// rule).
Result<std::vector<Scope>> cgroup_scopes(const Options& options, std::vector<events::EventGroup> groups) {
    const auto names = cgroup_names(options);
    const auto target = [&](const std::string& name) -> Result<Target> {
        if (name.empty()) return target_of(options).cpu_wide() ? target_of(options) : Target::system();
        return Target::cgroup(TRY(host::cgroup_directory(host::Root{}, name)), options.cpus);
    };
    std::vector<Scope> scopes;
    if (names.size() == 1) {
        scopes.push_back({
            TRY(target(names.front()))
            , std::move(groups), names.front()
        });
        return scopes;
    }
    if (names.size() != groups.size())
        return std::unexpected(Error{fmt::format("cannot assign {} cgroups to {} events", names.size(), groups.size()),
                                     "several cgroups are for one event (or group) each, in order",
                                     "give one cgroup for all events, or as many as there are -e events"});
    for (std::size_t i = 0; i < names.size(); ++i)
        scopes.push_back({
            TRY(target(names[i]))
            , {std::move(groups[i])}, names[i]
        });
    return scopes;
}

Result<void> check_cpus(const std::vector<int>& wanted) {
    if (wanted.empty()) return {};
    const auto online = TRY(host::online_cpus(host::Root{}));
    for (const int cpu : wanted)
        if (!std::ranges::binary_search(online, cpu))
            return std::unexpected(
                Error{fmt::format("cannot count CPU {}", cpu),
                      fmt::format("it is not online: this machine has {}", host::to_cpu_list(online)),
                      "give CPUs of that list with -C"});
    return {};
}

}  // namespace

Result<Plan> make_plan(const Options& options, const events::Machine& machine) {
    TRY(check_cpus(options.cpus));
    Plan plan;
    plan.target_name = name_of(options);
    auto groups = TRY(parse_events(options, machine));
    Target target = target_of(options);
    plan.of_command = target.kind == Target::Kind::self && options.cgroups.empty();
    if (options.command.empty()) plan.watched = target.ids;
    if (options.per_cpu && !target.cpu_wide())
        target.cpus = TRY(host::online_cpus(host::Root{}));  // each task event bound to a CPU
    if (options.cgroups.empty())
        plan.scopes.push_back({std::move(target), std::move(groups), ""});
    else
        plan.scopes = TRY(cgroup_scopes(options, std::move(groups)));
    return plan;
}

}  // namespace anyperf::cli::stat
