#include "cli/list/metric_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ranges>

#include "events/catalog/text.h"
#include "events/machine/machine_data.h"
#include "events/suggest/near_names.h"
#include "events/vendor/formula.h"

namespace anyperf::cli {

namespace {

constexpr int kDeepest = 20;  // metrics of metrics; the lists have five levels

/// Finds names that are no events of the machine. A metric is replaced by the names of its own formula.
class MissingNames {
  public:
    MissingNames(const events::Machine& machine, const vendor::ListRow& list) : machine_(machine), list_(list) {}

    /// The first in the formula; empty if it has none.
    std::string first_of(std::string_view formula, int depth = 0) const {
        const auto parsed = vendor::Formula::parse(formula);
        if (!parsed) return std::string{formula};
        for (const std::string& name : parsed->names(values())) {
            const vendor::MetricRow* metric = vendor::find_metric(list_, name);
            if (metric != nullptr && depth < kDeepest) {
                if (auto inner = first_of(vendor::text(metric->formula), depth + 1); !inner.empty()) return inner;
            } else if (!is_event(name)) {
                return name;
            }
        }
        return {};
    }

  private:
    bool is_event(const std::string& name) const {
        return name == "duration_time" || events::parse(machine_, name, events::CatalogScope::this_machine).has_value();
    }
    /// The names do not depend on counts. Of a condition on a literal the second branch is taken.
    vendor::FormulaValues values() const {
        return {.count = [](const std::string&) { return std::nan(""); },
                .literal = [](const std::string&) { return 0.0; },
                .has_event = [this](const std::string& name) { return is_event(name); },
                .sources = [](const std::string&) { return 1.0; }};
    }

    const events::Machine& machine_;
    const vendor::ListRow& list_;
};

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

Error nothing_matches(const vendor::ListRow& list, const std::string& pattern) {
    std::vector<std::string> names;
    for (const vendor::MetricRow& metric : vendor::metrics(list)) names.emplace_back(vendor::text(metric.name));
    const std::string near = events::did_you_mean(pattern, names);
    return {"no metric matches '" + pattern + "'",
            fmt::format("none of the {} metrics that perf has for this CPU ({}) has the name or group", names.size(),
                        vendor::text(list.name)),
            near.empty() ? "anyperf list metrics without a pattern shows all" : near, 1};
}

}  // namespace

Result<std::vector<MetricName>> metric_names(const events::Machine& machine, const std::vector<std::string>& patterns) {
    const vendor::ListRow* list = machine.data().vendor_list();
    if (list == nullptr || list->metrics == 0)
        return std::unexpected(Error{"no metrics for this CPU", "perf's lists of x86 CPUs have none for it",
                                     "anyperf list --all shows the CPUs with names of events", 1});
    const MissingNames missing{machine, *list};
    std::vector<MetricName> metrics;
    for (const vendor::MetricRow& row : vendor::metrics(*list))
        if (is_wanted(row, patterns))
            metrics.push_back({std::string{vendor::text(row.name)}, std::string{vendor::text(row.groups)},
                               std::string{vendor::text(row.unit)}, std::string{vendor::text(row.formula)},
                               missing.first_of(vendor::text(row.formula))});
    if (metrics.empty()) return std::unexpected(nothing_matches(*list, patterns.front()));
    return metrics;
}

// For people: name, groups, unit and formula, and what this machine lacks to compute it.
std::string metrics_table(const std::vector<MetricName>& metrics) {
    std::string text = "metrics\n";
    for (const MetricName& metric : metrics) {
        text += fmt::format("  {}{}{}\n", metric.name, metric.groups.empty() ? "" : "  [" + metric.groups + "]",
                            metric.unit.empty() ? "" : "  in " + metric.unit);
        text += fmt::format("    = {}\n", metric.formula);
        if (!metric.missing.empty()) text += fmt::format("    this machine has no event called {}\n", metric.missing);
    }
    return text;
}

std::string metrics_json(const std::vector<MetricName>& metrics) {
    nlohmann::ordered_json json{{"metrics", nlohmann::ordered_json::array()}};
    for (const MetricName& metric : metrics) {
        nlohmann::ordered_json row{{"name", metric.name}, {"groups", nlohmann::ordered_json::array()}};
        for (const auto group : std::views::split(metric.groups, ';'))
            if (!group.empty()) row["groups"].push_back(std::string{group.begin(), group.end()});
        if (!metric.unit.empty()) row["unit"] = metric.unit;
        row["formula"] = metric.formula;
        if (!metric.missing.empty()) row["missing_event"] = metric.missing;
        json["metrics"].push_back(std::move(row));
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace anyperf::cli
