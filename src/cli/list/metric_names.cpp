// metric_names.cpp: the list of metrics answers two questions of a user: which metrics does perf have for this CPU, and
// which of them can `stat -M` compute here. For the second each metric is resolved as stat would do it, without opening
// an event: a metric whose events or literals this machine lacks is listed with the reason, not left out.
//
// The second answer depends on what would count: the virtual PMU counts fewer events than a CPU's PMU. So
// metric_names() first finds out which of the two stat would use.
#include "cli/list/metric_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "broker/launch/inside_run.h"
#include "events/catalog/text.h"
#include "events/suggest/near_names.h"
#include "host/hardware/cpu_counters.h"
#include "host/usability.h"

namespace anyperf::cli {

namespace {

std::string list_name(const MetricSource& source) {
    return std::string{vendor::text(source.list->name)};
}

/// A pattern without a wildcard matches anywhere in the name.
bool matches(const std::string& pattern, std::string_view name) {
    const bool glob = pattern.find_first_of("*?") != std::string::npos;
    return catalog::glob_matches(glob ? pattern : '*' + pattern + '*', name);
}

/// Whether one of the patterns matches the name or one of the groups.
bool is_wanted(const vendor::MetricRow& metric, const std::vector<std::string>& patterns) {
    return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
               if (matches(pattern, vendor::text(metric.name))) return true;
               return std::ranges::any_of(std::views::split(vendor::text(metric.groups), ';'), [&](const auto& group) {
                   return catalog::glob_matches(pattern, std::string_view{group.begin(), group.end()});
               });
           });
}

Error nothing_matches(const std::vector<MetricSource>& sources, const std::string& pattern) {
    std::vector<std::string> names;
    for (const MetricSource& source : sources)
        for (const vendor::MetricRow& metric : vendor::metrics(*source.list))
            names.emplace_back(vendor::text(metric.name));
    const std::string near = events::did_you_mean(pattern, names);
    const auto lists = std::views::transform(sources, [](const MetricSource& source) { return list_name(source); });
    return {"no metric matches '" + pattern + "'",
            fmt::format("none of the {} metrics that perf has for this CPU ({}) has the name or group", names.size(),
                        fmt::join(lists, ", ")),
            near.empty() ? "anyperf list metrics without a pattern shows all" : near, 1};
}

/// Whether `stat` would count by the virtual PMU: in a run, or because the machine's PMU is not available to this user.
/// The event "cycles" stands for all of the PMU's.
bool counts_in_user_space(const events::Machine& machine, const host::Root& root) {
    if (root.is_this_machine() && broker::inside_run()) return true;
    const auto cycles = events::parse(machine, "cycles");
    if (!cycles || !host::is_x86(root)) return false;
    const auto use = host::usability({.attr = attr_to_open(cycles->front().events.front())}, "cycles", root).use;
    return use == host::Use::no_pmu || use == host::Use::blocked || use == host::Use::needs_privilege;
}

}  // namespace

Result<std::vector<MetricNames>> metric_names(const events::Machine& machine, const host::Root& root,
                                              const std::vector<std::string>& patterns) {
    const auto sources = metric_sources(machine, counts_in_user_space(machine, root), false);
    if (sources.empty())
        return std::unexpected(Error{"no metrics for this CPU", "perf's lists have none for it",
                                     "anyperf list --all shows the CPUs with names of events", 1});
    std::vector<MetricNames> lists;
    for (const MetricSource& source : sources) {
        MetricNames names{list_name(source), source.in_user_space, {}};
        for (const vendor::MetricRow& row : vendor::metrics(*source.list))
            if (is_wanted(row, patterns))
                names.metrics.push_back({std::string{vendor::text(row.name)}, std::string{vendor::text(row.groups)},
                                         std::string{vendor::text(row.unit)}, std::string{vendor::text(row.formula)},
                                         MetricFormula::resolve(source, row).missing});
        if (!names.metrics.empty()) lists.push_back(std::move(names));
    }
    if (lists.empty()) return std::unexpected(nothing_matches(sources, patterns.front()));
    return lists;
}

// For people: name, groups, unit and formula, and what this machine lacks to compute it.
std::string metrics_table(const std::vector<MetricNames>& lists) {
    std::string text;
    for (const MetricNames& names : lists) {
        text += text.empty() ? "" : "\n";
        text += names.in_user_space ? fmt::format("metrics of {}, counted in user space\n", names.list)
                                    : std::string{"metrics\n"};
        for (const MetricName& metric : names.metrics) {
            text += fmt::format("  {}{}{}\n", metric.name, metric.groups.empty() ? "" : "  [" + metric.groups + "]",
                                metric.unit.empty() ? "" : "  in " + metric.unit);
            text += fmt::format("    = {}\n", metric.formula);
            if (metric.missing) text += fmt::format("    {}\n", metric.missing->why);
        }
    }
    return text;
}

std::string metrics_json(const std::vector<MetricNames>& lists) {
    nlohmann::ordered_json json{{"metrics", nlohmann::ordered_json::array()}};
    for (const MetricNames& names : lists)
        for (const MetricName& metric : names.metrics) {
            nlohmann::ordered_json row{
                {"name", metric.name}, {"cpu", names.list}, {"groups", nlohmann::ordered_json::array()}};
            for (const auto group : std::views::split(metric.groups, ';'))
                if (!group.empty()) row["groups"].push_back(std::string{group.begin(), group.end()});
            if (!metric.unit.empty()) row["unit"] = metric.unit;
            row["formula"] = metric.formula;
            row["counted"] = names.in_user_space ? "user-space" : "kernel";
            if (metric.missing) row["missing_event"] = metric.missing->name;
            json["metrics"].push_back(std::move(row));
        }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace anyperf::cli
