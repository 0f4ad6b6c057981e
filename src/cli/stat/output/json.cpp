// json.cpp: the report as one JSON object. docs/stat.md describes the fields. A count, metric or exit status that does
// not exist is null. Times are always numbers: the CPU times are 0 without a command, and until it has ended.
#include <nlohmann/json.hpp>

#include "cli/stat/gate/comparison.h"
#include "cli/stat/metrics.h"
#include "cli/stat/output/writers.h"
#include "cli/stat/statistics.h"
#include "cli/stat/vendor_metrics/metric_values.h"

namespace anyperf::cli::stat {

namespace {

using Json = nlohmann::ordered_json;

/// The status in the words of the JSON, which are not those of the table.
const char* status_name(Status status) {
    switch (status) {
        case Status::counted: return "counted";
        case Status::not_counted: return "not-counted";
        case Status::not_supported: break;
    }
    return "not-supported";
}

/// The values of all runs of -r, and their statistics.
Json runs_of(std::span<const double> runs) {
    const Summary summary = summarize(runs);
    Json values = Json::array();
    for (const double run : runs) values.push_back(run);
    return {{"values", values},
            {"mean", summary.mean},
            {"stddev", summary.deviation},
            {"median", summary.median},
            {"median_ci", {summary.median_low, summary.median_high}},
            {"confidence", summary.confidence}};
}

/// The ratio or rate beside the count of an event of -e. Metrics of -M are in an array of their own.
std::optional<Metric> own_metric(const Line& line, const Report& report) {
    return line.metric_set == 0 ? metric_of(line, report.lines, report.wall_ns) : std::nullopt;
}

/// One event. `value` is in the unit that the table shows. `raw` is not scaled, neither to that unit nor for
/// multiplexing. Both are null if the event was not counted. Other members that do not apply are left out.
Json event_object(const Line& line, const Report& report) {
    // A value in a scaled unit is written as a double. Any other is written as an integer, because a double would round
    // counts above 2^53. Means of -r are integers already (average() in series.cpp).
    const bool counted = line.status() == Status::counted;
    Json event{{"name", line.name}};
    if (!line.where.empty()) event["where"] = line.where;
    if (line.cpus > 0) event["aggregate_number"] = line.cpus;
    if (!line.cgroup.empty()) event["cgroup"] = line.cgroup;
    event["value"] = !counted ? Json() : line.whole() ? Json(line.count.value) : Json(line.value());
    event["raw"] = counted ? Json(line.count.raw) : Json();
    event["enabled_ns"] = line.count.enabled_ns;
    event["running_ns"] = line.count.running_ns;
    event["scaled"] = counted && line.count.scaled;
    event["status"] = status_name(line.status());
    event["modelled"] = line.modelled;
    if (!line.machine.empty()) event["machine"] = line.machine;
    event["with_own_share"] = line.with_own_share;
    event["unit"] = line.event.unit;
    event["user_only"] = line.user_only;
    if (line.runs.size() > 1) event["runs"] = runs_of(line.runs);
    if (const auto metric = own_metric(line, report))
        event["metric"] = {{"value", metric->value},
                           {"unit", unit_field(*metric)},
                           {"modelled", metric->modelled},
                           {"with_own_share", metric->with_own_share}};
    if (line.refusal) event["refusal"] = {{"cause", line.refusal->cause}, {"fix", line.refusal->fix}};
    return event;
}

/// Whether --metric-only includes the line.
bool has_ratio(const Line& line, const Report& report) {
    const auto metric = own_metric(line, report);
    return metric && is_ratio(*metric);
}

/// One metric of -M in one place and cgroup.
Json metric_object(const MetricValue& metric) {
    const MetricFormula& formula = metric.planned->formula;
    Json object{{"name", formula.name}};
    if (!metric.first->where.empty()) object["where"] = metric.first->where;
    if (metric.first->cpus > 0) object["aggregate_number"] = metric.first->cpus;
    if (!metric.first->cgroup.empty()) object["cgroup"] = metric.first->cgroup;
    object["value"] = metric.value ? Json(metric.value->value) : Json();
    object["unit"] = formula.unit;
    object["modelled"] = metric.value && metric.value->modelled;
    object["with_own_share"] = metric.value && metric.value->with_own_share;
    object["events"] = formula.events;
    return object;
}

/// What --baseline compares besides the counts; command and mode are members of the report itself.
Json identity_object(const RunIdentity& identity) {
    return {{"version", identity.version},         {"cpu", identity.cpu},         {"settings", identity.settings},
            {"environment", identity.environment}, {"program", identity.program}, {"repeats", identity.repeats}};
}

}  // namespace

std::string to_json(const Report& report, const Options& options) {
    Json object;
    if (report.interval_at_ns) object["interval_at_ns"] = *report.interval_at_ns;
    if (report.summary) object["summary"] = true;
    object["command"] = report.command;
    object["mode"] = report.mode;
    if (!report.mode_reason.empty()) object["mode_reason"] = report.mode_reason;
    object["exit"] = report.exit_status ? Json(*report.exit_status) : Json();
    object["wall_ns"] = report.wall_ns;
    object["user_ns"] = report.user_ns;
    object["system_ns"] = report.system_ns;
    object["runs"] = report.runs;
    if (report.wall_runs.size() > 1) object["wall_runs"] = runs_of(report.wall_runs);
    Json events = Json::array();
    for (const auto& line : report.lines)
        if (!options.metric_only || has_ratio(line, report)) events.push_back(event_object(line, report));
    object["events"] = std::move(events);
    if (report.metrics != nullptr) {
        Json metrics = Json::array();
        for (const MetricValue& metric : metric_values(report)) metrics.push_back(metric_object(metric));
        object["metrics"] = std::move(metrics);
    }
    if (!report.notes.empty()) object["notes"] = report.notes;
    if (report.identity) object["identity"] = identity_object(*report.identity);
    if (!report.verdict.empty()) object["verdict"] = report.verdict;
    if (!report.obstacles.empty()) object["not_comparable"] = report.obstacles;
    if (!report.differences.empty()) {
        Json differences = Json::array();
        for (const auto& difference : report.differences) differences.push_back(json_of(difference));
        object["differences"] = std::move(differences);
        if (!report.baseline_mode.empty()) object["baseline_mode"] = report.baseline_mode;
    }
    // The command's words need not be UTF-8; invalid bytes become U+FFFD.
    return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace anyperf::cli::stat
