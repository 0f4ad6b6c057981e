// metric_values.cpp: the values of -M. An event of a metric has a line for each place (CPU, core, thread) and cgroup,
// and one for each PMU that has it (cpu_core and cpu_atom). A metric is computed for each place and cgroup, from the
// lines there, added up over the PMUs. It is shown once for each place, next to the line of its first event.
#include "cli/stat/vendor_metrics/metric_values.h"

#include <cmath>

namespace anyperf::cli::stat {

namespace {

constexpr double kNsPerSecond = 1e9;

/// Whether the line is that of `event` in the metric's set, in whatever place.
bool is_input(const PlannedMetric& planned, const Line& line, const std::string& event) {
    return line.metric_set == planned.set && line.event.source_text == event;
}

/// Computes one metric from the lines with the place and cgroup of `first`. Also collects what must be shown with the
/// value: whether it contains a modelled count, or one with anyperf's own share.
class Computation {
  public:
    Computation(const PlannedMetric& planned, const Line& first, const Report& report)
        : planned_(planned), first_(first), report_(report) {}

    std::optional<Metric> value() {
        const auto sources = [this](const std::string& event) {
            const auto known = planned_.sources.find(event);
            return known == planned_.sources.end() ? 0.0 : known->second;
        };
        const double value = planned_.formula.value(
            {.of = [this](const std::string& event) { return count(event); }, .sources = sources});
        if (!std::isfinite(value)) return std::nullopt;
        const std::string& unit = planned_.formula.unit;
        return Metric{.value = value,
                      .unit = unit.empty() ? planned_.formula.name : unit + "  " + planned_.formula.name,
                      .decimals = unit.empty() ? 2 : 1,
                      .modelled = modelled_,
                      .with_own_share = with_own_share_,
                      .machine = machine_};
    }

  private:
    /// The count of the event, as the sum over the PMUs that count it; NaN if one does not. The elapsed time is in
    /// seconds.
    double count(const std::string& event) {
        double sum = 0;
        bool counted = false;
        for (const Line& line : report_.lines) {
            if (!is_input(planned_, line, event) || line.where != first_.where || line.cgroup != first_.cgroup)
                continue;
            // A metric with an unknown input is unknown: NaN propagates through the formula to the result.
            if (line.status() != Status::counted) return std::nan("");
            sum += line.value();
            counted = true;
            modelled_ |= line.modelled;
            if (!line.machine.empty()) machine_ = line.machine;
            with_own_share_ |= line.with_own_share;
        }
        if (!counted) return std::nan("");
        return event == kElapsedTime ? sum / kNsPerSecond : sum;
    }

    const PlannedMetric& planned_;
    const Line& first_;
    const Report& report_;
    bool modelled_ = false;
    std::string machine_;  ///< as Line::machine
    bool with_own_share_ = false;
};

/// Whether the metric is shown next to this line. That is the line of its first event or, if several PMUs count this
/// event, the first of their lines.
bool is_beside(const PlannedMetric& planned, const Line& line, const Report& report) {
    if (planned.formula.events.empty() || !is_input(planned, line, planned.formula.events.front())) return false;
    for (const Line& other : report.lines)
        if (is_input(planned, other, planned.formula.events.front()) && other.where == line.where &&
            other.cgroup == line.cgroup)
            return &other == &line;
    return false;
}

}  // namespace

std::vector<MetricValue> metric_values(const Report& report) {
    std::vector<MetricValue> values;
    if (report.metrics == nullptr) return values;
    for (const PlannedMetric& planned : *report.metrics)
        for (const Line& line : report.lines)
            if (is_beside(planned, line, report))
                values.push_back({&planned, &line, Computation{planned, line, report}.value()});
    return values;
}

std::vector<Metric> metrics_beside(const Line& line, const Report& report) {
    std::vector<Metric> metrics;
    if (line.metric_set == 0) {
        if (auto metric = metric_of(line, report.lines, report.wall_ns)) metrics.push_back(std::move(*metric));
        return metrics;
    }
    if (report.metrics == nullptr) return metrics;
    for (const PlannedMetric& planned : *report.metrics)
        if (is_beside(planned, line, report))
            if (auto metric = Computation{planned, line, report}.value()) metrics.push_back(std::move(*metric));
    return metrics;
}

}  // namespace anyperf::cli::stat
