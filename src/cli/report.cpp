// report.cpp: `anyperf report`: where the samples of a perf.data file are, as a table or as JSON.
#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/read_profile.h"
#include "cli/recording.h"
#include "cli/report/tables.h"
#include "try.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::string input = "perf.data";
    std::vector<std::string> keys{"comm", "dso", "symbol"};
    std::string symbol_root;
    double percent_limit = 0.0;
    bool children = false;
    bool call_tree = false;
    bool json = false;
};

/// The keys of --sort, each once: "sym" and "symbol" are one.
Result<std::vector<profile::Key>> keys_named(const std::vector<std::string>& names) {
    std::vector<profile::Key> keys;
    for (const std::string& name : names) {
        const auto row = std::ranges::find(profile::kKeyNames, std::string_view{name}, &profile::KeyName::name);
        if (row == profile::kKeyNames.end()) {
            std::string known;
            for (const profile::KeyName& each : profile::kKeyNames)
                fmt::format_to(std::back_inserter(known), " {}", each.name);
            return std::unexpected(Error{fmt::format("cannot sort by '{}'", name), "it is not a key that reports have",
                                         fmt::format("use some of:{}", known)});
        }
        if (std::ranges::find(keys, row->key) == keys.end()) keys.push_back(row->key);
    }
    return keys;
}

/// Only what the table shows is used: without --children and -g no call chains, which are most of a recording's bytes,
/// and pids, tids and CPUs only as keys. Fewer distinctions make fewer rows.
Result<int> report(const Options& options, Output& out) {
    TableOptions table{.call_tree = options.call_tree, .percent_limit = options.percent_limit};
    table.rows.keys = TRY(keys_named(options.keys));
    table.rows.children = options.children;
    table.rows.keep_samples = options.call_tree;
    const auto wants = [&](profile::Key key) {
        return std::ranges::find(table.rows.keys, key) != table.rows.keys.end();
    };
    unwind::Unwinder unwinder{symbol_paths(options.symbol_root)};
    const analysis::ReadOptions reading{.call_chains = options.children || options.call_tree,
                                        .pid = wants(profile::Key::pid),
                                        .tid = wants(profile::Key::tid),
                                        .cpu = wants(profile::Key::cpu),
                                        .paths = symbol_paths(options.symbol_root),
                                        .unwinder = &unwinder};
    const analysis::ReadProfile read = TRY(analysis::read_profile(options.input, reading));
    note_losses(read, out);
    out.print(options.json ? rows_as_json(read.profile, table) : rows_as_text(read.profile, table));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option("-s,--sort", options->keys, "what samples are summed up by: comm, pid, tid, cpu, dso, symbol")
        ->delimiter(',')
        ->type_name("KEY,…");
    verb.add_flag("-g,--call-graph", options->call_tree, "show the callers of each row as a tree");
    verb.add_flag("--children,!--no-children", options->children,
                  "add the weight of what a row calls, and sort by that");
    verb.add_option("--percent-limit", options->percent_limit, "leave out rows and callers with a smaller share")
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
