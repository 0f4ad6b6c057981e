// metric_plan.cpp: perf's rules (tools/perf/util/metricgroup.c, parse_groups()): a name is that of a metric or of a
// group, without regard to case; the metric with most events has a group of events, and one whose events are all in a
// group that exists uses that.
#include "cli/stat/vendor_metrics/metric_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <set>

#include "cli/stat/events/tool_events.h"
#include "cli/stat/events/virtual_events.h"
#include "events/catalog/text.h"
#include "events/suggest/near_names.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

/// One piece of -M: "tma_retiring", "TopdownL1:u".
struct Wanted {
    std::string name;
    std::string modifiers;
};

std::vector<Wanted> wanted_metrics(const Options& options) {
    std::vector<Wanted> wanted;
    for (const std::string& text : options.metrics) {
        if (text.empty()) wanted.emplace_back();  // to be refused
        for (const auto piece : std::views::split(text, ',')) {
            const std::string word{piece.begin(), piece.end()};
            const auto colon = word.find(':');
            wanted.push_back({word.substr(0, colon), colon == std::string::npos ? "" : word.substr(colon + 1)});
        }
    }
    return wanted;
}

/// A metric that can be computed, before its events are in a set.
struct Chosen {
    MetricFormula formula;
    std::string modifiers;
    const MetricSource* source;
};

/// What a name chooses in one list.
struct Choice {
    std::vector<Chosen> metrics;
    std::vector<MetricFormula> left_out;
};

bool is_named(const vendor::MetricRow& row, const std::string& name) {
    if (catalog::same_name(vendor::text(row.name), name)) return true;
    return std::ranges::any_of(groups_of(row), [&](const auto& group) { return catalog::same_name(group, name); });
}

// The name of a metric wins over that of a group.
Choice choose(const MetricSource& source, const Wanted& wanted) {
    Choice choice;
    const auto add = [&](const vendor::MetricRow& row) {
        auto formula = MetricFormula::resolve(source, row);
        if (formula.missing)
            choice.left_out.push_back(std::move(formula));
        else
            choice.metrics.push_back({std::move(formula), wanted.modifiers, &source});
    };
    if (const auto* row = vendor::find_metric(*source.list, wanted.name)) {
        add(*row);
        return choice;
    }
    for (const vendor::MetricRow& row : vendor::metrics(*source.list))
        if (is_named(row, wanted.name)) add(row);
    return choice;
}

Error unknown_metric(const std::string& name, const std::vector<MetricSource>& sources) {
    std::set<std::string> names;
    for (const MetricSource& source : sources)
        for (const vendor::MetricRow& row : vendor::metrics(*source.list)) {
            names.emplace(vendor::text(row.name));
            std::ranges::copy(groups_of(row), std::inserter(names, names.end()));
        }
    if (names.empty())
        return {"cannot compute the metric " + name, "perf's lists have no metrics for this CPU",
                "-e counts events; anyperf list shows them"};
    const std::string near = events::did_you_mean(name, std::vector<std::string>(names.begin(), names.end()));
    const auto lists = std::views::transform(
        sources, [](const MetricSource& source) { return std::string{vendor::text(source.list->name)}; });
    return {"cannot compute the metric " + name,
            fmt::format("no metric or group of metrics in perf's list for {} has that name", fmt::join(lists, " or ")),
            near.empty() ? "anyperf list metrics shows all" : near};
}

Error cannot_compute(const std::string& name, const std::vector<MetricFormula>& left_out, bool in_user_space) {
    const MissingInput& missing = *left_out.front().missing;
    return {left_out.size() == 1 ? "cannot compute the metric " + left_out.front().name
                                 : fmt::format("cannot compute any of the {} metrics of {}", left_out.size(), name),
            left_out.size() == 1 ? missing.why : fmt::format("{}: {}", left_out.front().name, missing.why),
            in_user_space
                ? "a machine whose kernel has a PMU counts it; anyperf list metrics shows what can be computed here"
                : "anyperf list metrics shows what can be computed here"};
}

/// A group of metrics is computed as far as possible, and this note names the rest. If none can
/// be computed, that is an error (cannot_compute()).
std::string note_on(const std::string& name, const std::vector<MetricFormula>& left_out) {
    std::vector<std::string> parts;
    parts.reserve(left_out.size());
    for (const MetricFormula& metric : left_out)
        parts.push_back(fmt::format("{} ({})", metric.name, metric.missing->name));
    return fmt::format("-M {} leaves out metrics whose events are not counted here: {}", name, fmt::join(parts, ", "));
}

/// Appends what the name chooses. The first list that has a metric which can be computed decides.
Result<void> add_chosen(const Wanted& wanted, const std::vector<MetricSource>& sources, std::vector<Chosen>& chosen,
                        std::vector<std::string>& notes) {
    std::optional<Error> error;
    for (const MetricSource& source : sources) {
        Choice choice = choose(source, wanted);
        if (!choice.metrics.empty()) {
            if (!choice.left_out.empty()) notes.push_back(note_on(wanted.name, choice.left_out));
            std::ranges::move(choice.metrics, std::back_inserter(chosen));
            return {};
        }
        if (!choice.left_out.empty() && !error)
            error = cannot_compute(wanted.name, choice.left_out, source.in_user_space);
    }
    return std::unexpected(error ? *error : unknown_metric(wanted.name, sources));
}

/// The event's name with more modifiers. After "pmu/terms/" and after modifiers that the name already has, letters
/// follow without a colon.
std::string with_modifiers(const std::string& event, const std::string& modifiers) {
    if (modifiers.empty() || event == kElapsedTime) return event;
    const bool has_some = event.ends_with('/') || event.find(':') != std::string::npos;
    return event + (has_some ? "" : ":") + modifiers;
}

/// A set of events in the making. `names` are the events of the set. A later metric whose events are all among them
/// shares the set, and so the counters.
struct MetricEvents {
    std::size_t number;
    const MetricSource* source;
    std::string modifiers;
    std::set<std::string> names;
    std::map<std::string, double> sources;

    bool has_all_of(const Chosen& metric) const {
        return source == metric.source && modifiers == metric.modifiers &&
               std::ranges::all_of(metric.formula.events, [&](const auto& name) { return names.contains(name); });
    }
};

/// Opens together what one core PMU counts. The kernel's own names have no PMU if there is only one kind of core.
std::string pmu_key(const events::Event& event) {
    return event.pmu == "cpu" ? "" : event.pmu;
}

/// Adds the events of a set to the plan. Events of one core PMU become a group, so that they are counted at the same
/// time and their ratios mean something. The group is weak: if it needs more counters than there are, the kernel may
/// count its members one by one.
Result<void> add_events(const Options& options, MetricEvents& set, const std::vector<std::string>& names,
                        MetricPlan& plan) {
    std::map<std::string, std::size_t> group_of_pmu;
    for (const std::string& name : names) {
        set.names.insert(name);
        auto groups = TRY(events::parse(set.source->names, with_placeholders(with_modifiers(name, set.modifiers)),
                                        events::CatalogScope::this_machine));
        for (auto& group : groups)
            for (auto& event : group.events) {
                event.source_text = name;
                set.sources[name] += 1;
                const bool grouped = is_cpu_event(event) || (!event.pmu.empty() && event.pmu.starts_with("cpu"));
                const bool joins = grouped && !event.cpu_wide_only && !options.metric_no_group;
                const auto [place, is_new] = joins ? group_of_pmu.try_emplace(pmu_key(event), plan.groups.size())
                                                   : std::pair{group_of_pmu.end(), true};
                if (is_new) {
                    plan.groups.push_back({.name = "", .events = {}, .braces = joins, .weak = joins});
                    plan.sets.push_back(set.number);
                }
                plan.groups[joins ? place->second : plan.groups.size() - 1].events.push_back(std::move(event));
            }
    }
    return {};
}

/// Gives each metric its set; those with most events first, as later ones may find theirs there.
Result<void> add_sets(const Options& options, std::vector<Chosen> chosen, MetricPlan& plan) {
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return chosen[i].formula.events.size(); });
    std::vector<MetricEvents> sets;
    plan.metrics.resize(chosen.size());
    for (const std::size_t i : order) {
        Chosen& metric = chosen[i];
        auto set = options.metric_no_merge
                       ? sets.end()
                       : std::ranges::find_if(sets, [&](const MetricEvents& each) { return each.has_all_of(metric); });
        if (set == sets.end()) {
            set = sets.insert(sets.end(), {sets.size() + 1, metric.source, metric.modifiers, {}, {}});
            TRY(add_events(options, *set, metric.formula.events, plan));
        }
        plan.metrics[i] = {std::move(metric.formula), set->number, set->sources};
    }
    return {};
}

}  // namespace

Result<MetricPlan> plan_metrics(const Options& options, const events::Machine& machine) {
    MetricPlan plan;
    if (options.metrics.empty()) return plan;
    const bool system_wide = options.system_wide && options.cpus.empty();
    const auto sources = metric_sources(machine, options.in_user_space, system_wide);
    std::vector<Chosen> chosen;
    for (const Wanted& wanted : wanted_metrics(options)) TRY(add_chosen(wanted, sources, chosen, plan.notes));
    // A metric that is in two of the groups is computed once.
    std::vector<Chosen> distinct;
    for (Chosen& metric : chosen)
        if (std::ranges::none_of(distinct, [&](const Chosen& known) {
                return known.formula.name == metric.formula.name && known.modifiers == metric.modifiers;
            }))
            distinct.push_back(std::move(metric));
    TRY(add_sets(options, std::move(distinct), plan));
    return plan;
}

}  // namespace anyperf::cli::stat
