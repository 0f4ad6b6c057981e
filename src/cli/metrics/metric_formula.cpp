// metric_formula.cpp: a formula with all that it needs, found before anything is counted. A formula names events and
// other metrics alike ("tma_retiring"). A name is a metric if the list has a metric of that name, unless it is the name
// of the formula's own metric.
//
// add() walks over formulas depth first and keeps each once, by its name in lower case. It asks each formula for the
// names that it will use on this machine (Formula::names()): literals such as #smt_on, and whether an event exists,
// choose between branches, so that events of the other branch are not opened. The first event or literal that is
// missing is kept with its reason; the metric is then left out by the caller, who knows whether it was asked for by
// name.
#include "cli/metrics/metric_formula.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <ranges>

#include "abi/attr_flags.h"
#include "anyperf/event_names.h"
#include "cli/metrics/literals.h"
#include "cli/stat/events/virtual_events.h"
#include "events/machine/machine_data.h"
#include "pmu/cpu/cpu_models.h"

namespace anyperf::cli {

namespace {

constexpr int kDeepest = 20;  // metrics of metrics; the lists have five levels

/// Splits perf's ScaleUnit ("100%", "1MB/s", "1e3per_1k_instr") into the factor of the formula's value and the unit.
/// Without a number the factor does not change.
void set_unit(std::string_view text, std::string& unit, double& factor) {
    const std::string whole{text};
    char* end = nullptr;
    const double number = std::strtod(whole.c_str(), &end);
    if (end != whole.c_str()) factor = number;
    unit = end;
}

/// The key of a metric, whose name has no case.
std::string key_of(std::string_view name) {
    std::string key{name};
    for (char& letter : key)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return key;
}

/// perf's list for the CPU whose events the virtual PMU has.
const vendor::ListRow* list_of_virtual_pmu() {
    const bool server = pmu::skylake_model_of_host() == pmu::CpuModel::skylake_server;
    return vendor::list_called(server ? "skylakex" : "skylake");
}

bool is_skylake(const vendor::ListRow* list) {
    return list != nullptr && vendor::text(list->name).starts_with("skylake");
}

bool sees_kernel_only(const events::Event& event) {
    return (event.attr.flags & abi::flag("exclude_user")) != 0;
}

/// Whether `holds` is true of each event of the name.
template <class Holds>
bool all_events(const std::vector<events::EventGroup>& groups, Holds holds) {
    return std::ranges::all_of(groups, [&](const auto& group) { return std::ranges::all_of(group.events, holds); });
}

}  // namespace

MetricSource::MetricSource(const vendor::ListRow& its_list, events::Machine its_names, const Where& where)
    : list(&its_list),
      names(std::move(its_names)),
      facts(where.facts),
      in_user_space(where.in_user_space),
      system_wide(where.system_wide),
      known_(std::make_shared<Known>()) {}

// The answer is kept for each event, since many metrics of a list use the same ones, and each question parses an event
// string.
bool MetricSource::can_count(const std::string& event) const {
    const auto known = known_->events.find(event);
    if (known != known_->events.end()) return known->second;
    const auto groups = events::parse(names, event, events::CatalogScope::this_machine);
    if (groups && in_user_space && !known_->names) known_->names = events::EventNames::read();
    const auto counted = [&](const events::Event& each) {
        return !sees_kernel_only(each) && stat::is_counted_in_user_space(each, *known_->names);
    };
    return known_->events[event] = groups.has_value() && (!in_user_space || all_events(*groups, counted));
}

std::string MetricSource::why_not_counted(const std::string& event) const {
    const std::string whose = in_user_space ? "the virtual PMU" : "this machine";
    const auto groups = events::parse(names, event, events::CatalogScope::this_machine);
    if (!groups) return whose + " has no event called " + event;
    if (all_events(*groups, sees_kernel_only)) return whose + " sees user mode only, and so not " + event;
    return whose + " has no model of " + event;
}

MetricFormula MetricFormula::resolve(const MetricSource& source, const vendor::MetricRow& row) {
    MetricFormula metric;
    metric.name = vendor::text(row.name);
    metric.own_ = key_of(metric.name);
    set_unit(vendor::text(row.unit), metric.unit, metric.factor_);
    metric.add(source, row, 0);
    if (metric.events.empty()) metric.add_event(source, kElapsedTime);  // a constant on this machine
    return metric;
}

void MetricFormula::add(const MetricSource& source, const vendor::MetricRow& row, int depth) {
    auto [place, added] = formulas_.try_emplace(key_of(vendor::text(row.name)));
    if (!added) return;
    auto parsed = vendor::Formula::parse(vendor::text(row.formula));
    if (!parsed || depth > kDeepest) {
        if (!missing) missing = {std::string{vendor::text(row.name)}, "its formula cannot be read"};
        return;
    }
    place->second = std::move(*parsed);
    const vendor::Formula& formula = place->second;  // a map's elements stay where they are
    for (const std::string& literal : formula.literals()) {
        const double value = literal_value(source.facts, literal, source.system_wide);
        literals_.emplace(literal, value);
        if (std::isnan(value) && !missing) missing = {literal, "this machine does not show the value of " + literal};
    }
    const auto names = formula.names({.count = [](const std::string&) { return std::nan(""); },
                                      .literal = [this](const std::string& each) { return literals_.at(each); },
                                      .has_event = [&](const std::string& each) { return has_event(source, each); },
                                      .sources = [](const std::string&) { return 1.0; }});
    for (const std::string& each : names) {
        const auto* inner = vendor::find_metric(*source.list, each);
        if (inner != nullptr && inner != &row)  // a metric may have the name of its event
            add(source, *inner, depth + 1);
        else
            add_event(source, each);
    }
}

void MetricFormula::add_event(const MetricSource& source, const std::string& event) {
    if (std::ranges::find(events, event) != events.end()) return;
    events.push_back(event);
    if (has_event(source, event) || missing) return;
    missing = {event, source.why_not_counted(event)};
}

bool MetricFormula::has_event(const MetricSource& source, const std::string& event) {
    return known_events_[event] = event == kElapsedTime || source.can_count(event);
}

double MetricFormula::value(const Counts& counts) const {
    return factor_ * evaluate(own_, counts, 0);
}

// The depth is checked here as well, because a formula that names itself through another one would not end.
double MetricFormula::evaluate(const std::string& key, const Counts& counts, int depth) const {
    const auto value_of = [&](const std::string& each) {
        const std::string inner = key_of(each);
        const bool is_metric = inner != key && formulas_.contains(inner) && depth < kDeepest;
        return is_metric ? evaluate(inner, counts, depth + 1) : counts.of(each);
    };
    const auto literal = [this](const std::string& each) {
        const auto known = literals_.find(each);
        return known == literals_.end() ? std::nan("") : known->second;
    };
    const auto has_event = [this](const std::string& event) {
        const auto known = known_events_.find(event);
        return known != known_events_.end() && known->second;
    };
    return formulas_.at(key).evaluate(
        {.count = value_of, .literal = literal, .has_event = has_event, .sources = counts.sources});
}

std::vector<MetricSource> metric_sources(const events::Machine& machine, bool in_user_space, bool system_wide) {
    std::vector<MetricSource> sources;
    const MetricSource::Where where{machine.data().root, in_user_space, system_wide};
    const vendor::ListRow* const own = machine.data().vendor_list();
    // The codes of the virtual PMU are a Skylake's: those of another CPU would count something else.
    if (const auto* list = list_of_virtual_pmu(); in_user_space && !is_skylake(own) && list != nullptr) {
        if (auto names = events::Machine::of_cpu(vendor::text(list->name)))
            sources.emplace_back(*list, std::move(*names), where);
        return sources;
    }
    if (own != nullptr && own->metrics > 0) sources.emplace_back(*own, machine, where);
    return sources;
}

std::vector<std::string> groups_of(const vendor::MetricRow& row) {
    std::vector<std::string> groups;
    for (const auto group : std::views::split(vendor::text(row.groups), ';'))
        if (!group.empty()) groups.emplace_back(group.begin(), group.end());
    return groups;
}

}  // namespace anyperf::cli
