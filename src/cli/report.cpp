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
    SymbolOptions symbols;
    double percent_limit = 0.0;
    std::string parents;  ///< of --parent
    bool children = false;
    bool call_tree = false;
    bool inlines = true;
    bool groups = true;
    bool branches = false;
    bool by_weight = false;
    bool no_interpreter = false;
    bool json = false;
};

/// perf's default_branch_sort_order and default_mem_sort_order (tools/perf/util/sort.c).
std::vector<profile::Key> default_keys(const Options& options) {
    using profile::Key;
    if (options.branches) return {Key::comm, Key::from_dso, Key::from_symbol, Key::to_symbol, Key::branch_cycles};
    if (options.by_weight)
        return {Key::weight,       Key::memory_level,       Key::symbol,
                Key::dso,          Key::data_symbol,        Key::data_dso,
                Key::memory_snoop, Key::memory_tlb,         Key::memory_lock,
                Key::memory_block, Key::instruction_latency};
    return {Key::comm, Key::dso, Key::symbol};
}

/// perf shows samples of tracepoints by what they say, if all events are tracepoints.
bool only_tracepoints(const profile::Profile& profile) {
    bool only = profile.events.size() > 0;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) only &= profile.events[{i}].tracepoint;
    return only;
}

/// Error: the keys of branches and others exclude each other.
Result<void> check_keys(const Options& options, const profile::Parts& parts) {
    if (options.branches && options.by_weight)
        return std::unexpected(Error{"cannot show branches by weight",
                                     "--branch-stack and --mem-mode exclude each other", "leave one of them out"});
    const bool of_branches = parts.has(profile::Part::branch) || parts.has(profile::Part::branch_flags);
    if (of_branches && !options.branches)
        return std::unexpected(Error{"cannot sort samples by their branches", "a sample has many of them",
                                     "add -b: then each branch is a sample"});
    return {};
}

/// Only what the table shows is used: without --children and -g no call chains, which are most of a recording's bytes,
/// and pids, tids and CPUs only as keys. Fewer distinctions make fewer rows.
analysis::ReadOptions reading(const Options& options, const std::vector<profile::Key>& keys) {
    const auto wants = [&](profile::Key key) { return std::ranges::find(keys, key) != keys.end(); };
    const bool with_chains = options.children || options.call_tree || wants(profile::Key::parent);
    return {.call_chains = with_chains || options.no_interpreter,
            .pid = wants(profile::Key::pid),
            .tid = wants(profile::Key::tid),
            .cpu = wants(profile::Key::cpu) || wants(profile::Key::socket),
            .parts = profile::parts_of(keys),
            .traces_of_tracepoints = options.keys.empty(),
            .branches = options.branches,
            .by_weight = options.by_weight,
            // DWARF is read for lines and for inlined functions only: it takes most of the time of a report.
            .source = {.lines = profile::need_lines(keys), .inlines = options.inlines && with_chains},
            .no_interpreter = options.no_interpreter,
            .paths = {}};
}

Result<int> report(const Options& options, Output& out) {
    TableOptions table{
        .groups = options.groups, .call_tree = options.call_tree, .percent_limit = options.percent_limit};
    const bool chosen = !options.keys.empty();
    table.rows.keys = chosen ? TRY(profile::keys_named(options.keys)) : default_keys(options);
    if (!options.parents.empty() && std::ranges::find(table.rows.keys, profile::Key::parent) == table.rows.keys.end())
        table.rows.keys.push_back(profile::Key::parent);
    const profile::SymbolPattern parents =
        TRY(profile::SymbolPattern::compile(options.parents.empty() ? profile::kDefaultParents : options.parents));
    if (std::ranges::find(table.rows.keys, profile::Key::parent) != table.rows.keys.end()) table.rows.parent = &parents;
    table.rows.children = options.children;
    table.rows.keep_samples = options.call_tree;
    TRY(check_keys(options, profile::parts_of(table.rows.keys)));
    symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    // A symbol without a size ends where the next one begins, which may be a variable.
    paths.data_symbols = profile::parts_of(table.rows.keys).has(profile::Part::data_place) ||
                         std::ranges::find(table.rows.keys, profile::Key::symbol_size) != table.rows.keys.end();
    unwind::Unwinder unwinder{paths};
    analysis::ReadOptions wanted = reading(options, table.rows.keys);
    wanted.paths = paths;
    wanted.unwinder = &unwinder;
    const analysis::ReadProfile read = TRY(analysis::read_profile(options.input, wanted));
    if (!chosen && only_tracepoints(read.profile)) table.rows.keys = {profile::Key::trace};
    note_losses(read, out);
    out.print(options.json ? rows_as_json(read.profile, table) : rows_as_text(read.profile, table));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option(
            "-s,--sort", options->keys,
            "what samples are summed up by: comm, pid, tid, cpu, dso, symbol, srcline, srcfile, trace; of memory "
            "accesses and branches see the man page")
        ->delimiter(',')
        ->type_name("KEY,…");
    verb.add_flag("-b,--branch-stack", options->branches, "show each recorded branch as a sample");
    verb.add_flag("--mem-mode", options->by_weight, "show memory accesses, and weigh each sample by its latency");
    verb.add_option("-p,--parent", options->parents,
                    "with the key parent: the regular expression of the callers that samples are summed up by")
        ->type_name("REGEX");
    verb.add_flag("-g,--call-graph", options->call_tree, "show the callers of each row as a tree");
    verb.add_flag("--children,!--no-children", options->children,
                  "add the weight of what a row calls, and sort by that");
    verb.add_flag("--inline,!--no-inline", options->inlines, "show inlined functions among the callers (default: on)");
    verb.add_flag("--group,!--no-group", options->groups, "show the events of a group in one table (default: on)");
    declare_no_interpreter(verb, options->no_interpreter);
    verb.add_option("--percent-limit", options->percent_limit, "leave out rows and callers with a smaller share")
        ->check(check_percent)
        ->type_name("PERCENT");
    declare_symbol_options(verb, options->symbols);
    verb.add_flag("--json", options->json, "print an array with an object for each row");
    return [options](Output& out) { return report(*options, out); };
}

}  // namespace

constinit const Verb kReport{"report", "show where the samples of a perf.data file are", declare};

}  // namespace anyperf::cli
