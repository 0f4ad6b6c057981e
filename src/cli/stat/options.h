// options.h: what `anyperf stat` can be asked for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/user_space.h"

namespace CLI {
class App;
}

namespace anyperf::cli::stat {

enum class Format { table, csv, json };

/// One --fail-above: the most that an event may grow over the baseline.
struct Gate {
    std::string event;  ///< empty: every event
    double percent = 0;
};

struct Options {
    std::vector<std::string> events;
    std::vector<std::string> pids;
    std::vector<std::string> tids;
    std::vector<std::string> cgroups;
    std::vector<std::string> fail_above;
    std::string cpu_list;
    std::string separator;
    std::string output_file;
    std::string baseline;
    int detail = 0;
    int repeat = 1;
    std::int64_t interval_ms = 0;
    int interval_count = 0;
    std::int64_t timeout_ms = 0;
    std::int64_t delay_ms = 0;
    bool system_wide = false;
    bool per_thread = false;
    bool per_cpu = false;
    bool csv = false;
    bool json = false;
    bool metric_only = false;
    bool append = false;
    bool verbose = false;
    bool no_events = false;
    bool big_num = true;
    bool no_inherit = false;
    bool all_user = false;
    bool all_kernel = false;
    WhoCounts who;

    /// From here on: what the texts above mean, filled by check().
    std::vector<std::string> command;
    std::vector<pid_t> pid_numbers;
    std::vector<pid_t> tid_numbers;
    std::vector<int> cpus;
    std::vector<Gate> gates;
    Format format = Format::table;
    bool in_user_space = false;        ///< the virtual PMU counts: of the run that this is a program of, or of `hosted`
    UserSpace* hosted = nullptr;       ///< the run that this process hosts for its command
    std::string virtual_because = "";  ///< why the kernel does not count; empty: the user has asked for it

    counting::Kernel& kernel() const { return hosted != nullptr ? hosted->kernel() : counting::system_kernel(); }
    broker::Hosting* run() const { return hosted != nullptr ? &hosted->run() : nullptr; }

    /// Whether the events are counted for the command, not for others while it runs.
    bool of_command() const {
        return !command.empty() && pid_numbers.empty() && tid_numbers.empty() && cpus.empty() && !system_wide &&
               cgroups.empty();
    }
};

/// Adds the options to the verb.
void declare_options(CLI::App& verb, Options& options);

/// Numbers, lists and combinations. Error: which option is wrong, and why.
Result<void> check(Options& options);

}  // namespace anyperf::cli::stat
