// metric_formula.h: a metric of perf's lists with all that its formula refers to: other metrics, events, facts of the
// machine. docs/stat.md describes the metrics, events/vendor/formula.h the language of formulas.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/event.h"
#include "anyperf/event_names.h"
#include "events/vendor/formula.h"
#include "events/vendor/vendor_lists.h"
#include "host/root.h"

namespace anyperf::cli {

/// The name for the elapsed time in formulas; it is no event.
inline constexpr const char* kElapsedTime = "duration_time";

/// A list of metrics, and the machine on which they are to be computed. Copies share what was looked up. Not for
/// several threads.
class MetricSource {
  public:
    struct Where {
        host::Root facts;            ///< for literals
        bool in_user_space = false;  ///< the virtual PMU counts
        bool system_wide = false;    ///< all tasks on all CPUs are counted
    };
    MetricSource(const vendor::ListRow& its_list, events::Machine its_names, const Where& where);

    const vendor::ListRow* list;
    events::Machine names;  ///< gives the names of events their meaning
    host::Root facts;
    bool in_user_space;
    bool system_wide;

    /// Whether the name is an event of the machine; if the virtual PMU counts, one that it counts.
    bool can_count(const std::string& event) const;
    /// Why can_count() is false.
    std::string why_not_counted(const std::string& event) const;

  private:
    struct Known {
        std::map<std::string, bool> events;
        std::optional<events::EventNames> names;  ///< read when an event needs them
    };
    std::shared_ptr<Known> known_;
};

/// Why a metric cannot be computed.
struct MissingInput {
    std::string name;  ///< the event or literal
    std::string why;   ///< "this machine has no event called X"
};

/// Where a formula gets its numbers from, by the name of the event.
struct Counts {
    std::function<double(const std::string&)> of;       ///< the event's count; of kElapsedTime seconds
    std::function<double(const std::string&)> sources;  ///< on how many PMUs it was counted
};

class MetricFormula {
  public:
    /// Reads the formula of `row` and looks up what it refers to.
    static MetricFormula resolve(const MetricSource& source, const vendor::MetricRow& row);

    std::string name;
    std::string unit;                     ///< "%", "MB/s"; empty: a bare number
    std::vector<std::string> events;      ///< the names that value() asks for, each once; kElapsedTime may be one
    std::optional<MissingInput> missing;  ///< the first; none: the metric can be computed

    /// The metric in its unit; not a number if a division has no result or a count is unknown.
    double value(const Counts& counts) const;

  private:
    void add(const MetricSource& source, const vendor::MetricRow& row, int depth);
    void add_event(const MetricSource& source, const std::string& event);
    bool has_event(const MetricSource& source, const std::string& event);
    double evaluate(const std::string& key, const Counts& counts, int depth) const;

    double factor_ = 1;
    std::string own_;                                  ///< its key in formulas_
    std::map<std::string, vendor::Formula> formulas_;  ///< by metric: its own, and those of the metrics in it
    std::map<std::string, double> literals_;
    std::map<std::string, bool> known_events_;  ///< whether each can be counted
};

/// The lists of metrics that a verb uses on `machine`, the preferred one first. If the virtual PMU counts, that is the
/// list of the Skylake whose events it has. The list of the machine's CPU follows. Empty if perf has no metrics for the
/// CPU.
std::vector<MetricSource> metric_sources(const events::Machine& machine, bool in_user_space, bool system_wide);

/// The names of groups that the metric is in.
std::vector<std::string> groups_of(const vendor::MetricRow& row);

}  // namespace anyperf::cli
