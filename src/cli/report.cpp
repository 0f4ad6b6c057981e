// report.cpp: `anyperf report`: where the samples of a perf.data file are, as a table or as JSON.
#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/read_profile.h"
#include "cli/option_checks.h"
#include "cli/recording.h"
#include "cli/report/tables.h"
#include "try.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::string input = "perf.data";
    std::vector<std::string> keys;  ///< empty: default_keys()
    std::string symbol_root;
    double percent_limit = 0.0;
    bool children = false;
    bool call_tree = false;
    bool inlines = true;
    bool groups = true;
    bool json = false;
};

/// perf's: samples of tracepoints are shown by what they say, if all events are tracepoints.
std::vector<profile::Key> default_keys(const profile::Profile& profile) {
    bool only_tracepoints = profile.events.size() > 0;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) only_tracepoints &= profile.events[{i}].tracepoint;
    if (only_tracepoints) return {profile::Key::trace};
    return {profile::Key::comm, profile::Key::dso, profile::Key::symbol};
}

/// Only what the table shows is used: without --children and -g no call chains, which are most of a recording's bytes,
/// and pids, tids and CPUs only as keys. Fewer distinctions make fewer rows.
Result<int> report(const Options& options, Output& out) {
    TableOptions table{
        .groups = options.groups, .call_tree = options.call_tree, .percent_limit = options.percent_limit};
    const bool chosen = !options.keys.empty();
    if (chosen) table.rows.keys = TRY(profile::keys_named(options.keys));
    table.rows.children = options.children;
    table.rows.keep_samples = options.call_tree;
    const auto wants = [&](profile::Key key) {
        return std::ranges::find(table.rows.keys, key) != table.rows.keys.end();
    };
    const auto traces = wants(profile::Key::trace) ? analysis::Traces::all
                        : chosen                   ? analysis::Traces::none
                                                   : analysis::Traces::of_tracepoints_only;
    unwind::Unwinder unwinder{symbol_paths(options.symbol_root)};
    // DWARF is read for lines and for inlined functions only: it takes most of the time of a report.
    const bool with_chains = options.children || options.call_tree;
    const analysis::ReadOptions reading{
        .call_chains = with_chains,
        .pid = wants(profile::Key::pid),
        .tid = wants(profile::Key::tid),
        .cpu = wants(profile::Key::cpu),
        .traces = traces,
        .source = {.lines = wants(profile::Key::source_line), .inlines = options.inlines && with_chains},
        .paths = symbol_paths(options.symbol_root),
        .unwinder = &unwinder};
    const analysis::ReadProfile read = TRY(analysis::read_profile(options.input, reading));
    if (!chosen) table.rows.keys = default_keys(read.profile);
    note_losses(read, out);
    out.print(options.json ? rows_as_json(read.profile, table) : rows_as_text(read.profile, table));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option("-s,--sort", options->keys,
                    "what samples are summed up by: comm, pid, tid, cpu, dso, symbol, srcline, trace")
        ->delimiter(',')
        ->type_name("KEY,…");
    verb.add_flag("-g,--call-graph", options->call_tree, "show the callers of each row as a tree");
    verb.add_flag("--children,!--no-children", options->children,
                  "add the weight of what a row calls, and sort by that");
    verb.add_flag("--inline,!--no-inline", options->inlines, "show inlined functions among the callers (default: on)");
    verb.add_flag("--group,!--no-group", options->groups, "show the events of a group in one table (default: on)");
    verb.add_option("--percent-limit", options->percent_limit, "leave out rows and callers with a smaller share")
        ->check(check_percent)
        ->type_name("PERCENT");
    verb.add_option("--symfs", options->symbol_root, "look for the recorded files below this directory")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR");
    verb.add_flag("--json", options->json, "print an array with an object for each row");
    return [options](Output& out) { return report(*options, out); };
}

}  // namespace

constinit const Verb kReport{"report", "show where the samples of a perf.data file are", declare};

}  // namespace anyperf::cli
