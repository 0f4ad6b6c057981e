// report.cpp: `anyperf report`: where the samples of a perf.data file are, as a table or as JSON.
#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/read_profile.h"
#include "analysis/tracing/trace_fields.h"
#include "cli/command/target_options.h"
#include "cli/dump/record_dump.h"
#include "cli/option_checks.h"
#include "cli/reading/head_text.h"
#include "cli/reading/sample_filters.h"
#include "cli/recording.h"
#include "cli/report/blocks.h"
#include "cli/report/record_lists.h"
#include "cli/report/tables.h"
#include "cli/report/thread_counts.h"
#include "perfdata/reader.h"
#include "try.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::string input = "perf.data";
    std::vector<std::string> keys;  ///< empty: default_keys()
    SymbolOptions symbols;
    std::optional<double> percent_limit;
    std::string parents;               ///< of --parent
    std::vector<std::string> columns;  ///< -F; empty: shares, and the keys
    std::string separator;             ///< -t
    FilterOptions filters;
    std::string percentage = "absolute";  ///< what filtered rows are a share of
    HeadOptions head;
    RecordLists lists;
    std::size_t sorting_event = 0;
    std::size_t most_frames = ~std::size_t{0};
    bool sample_counts = false;  ///< -n
    bool periods = false;
    bool modes = false;  ///< --show-cpu-utilization
    bool only_with_parent = false;
    bool quiet = false;
    bool thread_counts = false;  ///< -T
    bool dump = false;           ///< -D
    bool children = false;
    std::optional<std::string> stacks;  ///< -g
    bool inverted = false;              ///< -G
    bool inlines = true;
    bool groups = true;
    bool hierarchy = false;
    bool skip_empty = true;
    std::string time_quantum;     ///< --time-quantum
    std::string ignored_callees;  ///< --ignore-callees
    bool branches = false;
    bool total_cycles = false;  ///< --total-cycles
    bool by_weight = false;
    bool no_interpreter = false;
    bool whole_source_paths = false;
    bool json = false;
};

/// Whether the names begin as in "+cpu": they are added to the default ones. Removes the sign.
bool take_plus(std::vector<std::string>& names) {
    if (names.empty() || !names.front().starts_with('+')) return false;
    names.front().erase(0, 1);
    return true;
}

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
analysis::ReadOptions reading(const Options& options, const TableOptions& table) {
    const profile::RowOptions& rows = table.rows;
    const std::vector<profile::Key>& keys = rows.keys;
    const auto wants = [&](profile::Key key) { return std::ranges::find(keys, key) != keys.end(); };
    const bool with_chains = rows.children || rows.keep_samples || wants(profile::Key::parent);
    return {.call_chains = with_chains || options.no_interpreter || !options.ignored_callees.empty(),
            .most_frames = options.most_frames,
            .addresses = with_chains || options.no_interpreter || profile::need_addresses(keys),
            .pid = wants(profile::Key::pid),
            .tid = wants(profile::Key::tid),
            .cpu = wants(profile::Key::cpu) || wants(profile::Key::socket),
            .parts = profile::parts_of(keys),
            .traces_of_tracepoints = options.keys.empty(),
            .branches = options.branches,
            .by_weight = options.by_weight,
            // DWARF is read for lines and for inlined functions only: it takes most of the time of a report.
            .source = {.lines = profile::need_lines(keys) || table.stacks.key != profile::CallKey::function,
                       .inlines = options.inlines && with_chains},
            .no_interpreter = options.no_interpreter,
            .paths = {}};
}

/// Without -F: shares, the numbers that are asked for, and the keys, in perf's order.
std::vector<Column> default_columns(const Options& options, const std::vector<profile::Key>& keys) {
    std::vector<Column> columns;
    const auto add = [&](bool wanted, Column::Kind kind) {
        if (wanted) columns.push_back({kind, {}});
    };
    add(options.children && !options.hierarchy, Column::Kind::total);
    add(true, Column::Kind::self);
    add(options.modes, Column::Kind::system);
    add(options.modes, Column::Kind::user);
    add(options.sample_counts, Column::Kind::samples);
    add(options.periods, Column::Kind::period);
    for (const profile::Key key : keys) columns.push_back({Column::Kind::key, key});
    return columns;
}

std::vector<profile::Key> keys_of(const std::vector<Column>& columns) {
    std::vector<profile::Key> keys;
    for (const Column& each : columns)
        if (each.kind == Column::Kind::key) keys.push_back(each.key);
    return keys;
}

/// -F +FIELD: the fields after the default columns. -s with names of columns: -F with them, after the shares.
Result<std::vector<Column>> chosen_columns(const Options& options, const std::vector<profile::Key>& keys) {
    std::vector<std::string> fields = options.columns;
    std::vector<Column> columns;
    if (take_plus(fields)) columns = default_columns(options, keys);
    if (fields.empty()) {
        fields = options.keys;
        columns = default_columns(options, take_plus(fields) ? keys : std::vector<profile::Key>{});
    }
    for (const Column& each : TRY(columns_named(fields)))
        if (std::ranges::find(columns, each) == columns.end()) columns.push_back(each);
    return columns;
}

/// -g and -G. As in perf, stacks with what a row calls begin at the outermost function.
Result<StackOptions> stacks_of(const Options& options) {
    using profile::CallOrder;
    if (!options.stacks && !options.inverted) return StackOptions{};
    const bool children = options.children && !options.hierarchy;
    const CallOrder order = options.inverted || children ? CallOrder::caller : CallOrder::callee;
    return stack_options(options.stacks.value_or(""), order, options.percent_limit);
}

/// Removes the braces of "{comm,dso},sym", and returns the level of each name: those within braces share one.
std::vector<std::size_t> take_braces(std::vector<std::string>& names) {
    std::vector<std::size_t> levels;
    bool within = false;
    std::size_t level = 0;
    for (std::string& name : names) {
        within |= name.starts_with('{');
        std::erase(name, '{');
        levels.push_back(level);
        within &= !name.ends_with('}');
        std::erase(name, '}');
        level += within ? 0 : 1;
    }
    return levels;
}

/// A key of reports, or one of the fields of tracepoints.
Result<profile::Key> key_named(const std::string& name, const std::vector<std::string>& fields) {
    const auto field = std::ranges::find(fields, name);
    if (field != fields.end() && !profile::is_key_name(name))
        return profile::trace_field(static_cast<std::size_t>(field - fields.begin()));
    return TRY(profile::keys_named({name}))
    .front();
}

/// Replaces the names in -s that are no keys by fields of the recording's tracepoints, and returns these. Names that
/// stay are unknown. A stream can be read once only, so it has none.
Result<std::vector<std::string>> find_trace_fields(Options& options) {
    const auto is_key = [](std::string_view name) {
        name.remove_prefix(std::min(name.find_first_not_of("+{"), name.size()));
        if (name.ends_with('}')) name.remove_suffix(1);
        return profile::is_key_name(name) || names_number(name);
    };
    std::vector<std::string> fields, keys;
    if (options.input == "-" || std::ranges::all_of(options.keys, is_key)) return fields;
    const auto reader = perfdata::Reader::open(options.input);
    if (!reader) return fields;
    for (const std::string& name : options.keys) {
        const std::string sign = name.starts_with('+') ? "+" : "";
        const std::vector<std::string> found =
            is_key(name) ? std::vector<std::string>{} : analysis::known_trace_fields(*reader, name.substr(sign.size()));
        if (found.empty()) keys.push_back(name);
        for (const std::string& each : found) {
            keys.push_back((keys.empty() ? sign : "") + each);
            if (std::ranges::find(fields, each) == fields.end()) fields.push_back(each);
        }
    }
    options.keys = keys;
    if (fields.size() <= profile::kMostTraceFields) return fields;
    return std::unexpected(Error{"cannot sort by so many keys", fmt::format("there are {} fields", fields.size()),
                                 fmt::format("name at most {}", profile::kMostTraceFields)});
}

/// The keys of -s, or the default ones, each on a level of its own unless braces join them. Returns how many keys each
/// level has.
Result<std::vector<std::size_t>> add_keys(const Options& options, const std::vector<std::string>& fields,
                                          std::vector<profile::Key>& keys) {
    std::vector<std::string> names = options.keys;
    const bool adds = take_plus(names);
    keys = adds || names.empty() ? default_keys(options) : std::vector<profile::Key>{};
    std::vector<std::size_t> sizes(keys.size(), 1);
    const std::vector<std::size_t> levels = take_braces(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const profile::Key key = TRY(key_named(names[i], fields));
        if (std::ranges::find(keys, key) != keys.end()) continue;
        keys.push_back(key);
        const bool joins = i > 0 && levels[i] == levels[i - 1] && !sizes.empty();
        if (!joins) sizes.push_back(0);
        ++sizes.back();
    }
    return sizes;
}

/// The keys and the columns, as far as the options say. With -F its keys are those of the rows.
Result<TableOptions> table_of(const Options& options, const std::vector<std::string>& fields) {
    const StackOptions stacks = TRY(stacks_of(options));
    TableOptions table{.separator = options.separator,
                       .titles = !options.quiet,
                       .groups = options.groups,
                       .skip_empty = options.skip_empty,
                       .sorting_event = options.sorting_event,
                       .stacks = stacks,
                       .percent_limit = options.percent_limit.value_or(0.0),
                       .keys_are_chosen = !options.keys.empty(),
                       .only_with_parent = options.only_with_parent};
    std::vector<profile::Key>& keys = table.rows.keys;
    table.rows.children = options.children && !options.hierarchy;  // as in perf
    table.rows.keep_samples = table.stacks.style != StackOptions::Style::none;
    table.rows.outermost_passage = table.stacks.order == profile::CallOrder::caller;
    if (!options.columns.empty()) {
        if (!options.keys.empty())
            return std::unexpected(Error{"cannot use -F and -s at the same time",
                                         "each says what rows are summed up by",
                                         "give the keys as fields: -F overhead,period,comm,symbol"});
    }
    if (!options.columns.empty() || std::ranges::any_of(options.keys, names_number)) {
        table.columns = TRY(chosen_columns(options, default_keys(options)));
        keys = keys_of(table.columns);
        const auto is_total = [](const Column& each) { return each.kind == Column::Kind::total; };
        table.rows.children |= std::ranges::any_of(table.columns, is_total);
        table.levels.assign(keys.size(), 1);
    } else {
        table.levels = TRY(add_keys(options, fields, keys));
    }
    if (!options.hierarchy) table.levels.clear();
    if (keys.size() > profile::kMostKeys)
        return std::unexpected(Error{"cannot sort by so many keys", fmt::format("there are {}", keys.size()),
                                     fmt::format("use at most {}", profile::kMostKeys)});
    const bool wants_parents = !options.parents.empty() || options.only_with_parent;
    if (!wants_parents || std::ranges::find(keys, profile::Key::parent) != keys.end()) return table;
    if (keys.size() == profile::kMostKeys)
        return std::unexpected(Error{"cannot sum up by the key parent, too",
                                     fmt::format("there are {} keys, the most that a table has", keys.size()),
                                     "leave one of them out"});
    keys.push_back(profile::Key::parent);
    if (options.hierarchy) table.levels.push_back(1);
    if (!table.columns.empty()) table.columns.push_back({Column::Kind::key, profile::Key::parent});
    return table;
}

/// Leaves out what the options do not admit. Returns which samples are shown, if the others still count as a part of
/// the whole; else they are removed. What has no symbol never counts, as in perf.
std::optional<std::vector<bool>> leave_out(const Options& options, profile::SampleFilter filter,
                                           profile::Profile& profile) {
    if (filter.only_resolved) keep_only(admitted_by({.only_resolved = true}, profile), profile);
    filter.only_resolved = false;
    if (filter.admits_all()) return std::nullopt;
    std::vector<bool> admitted = admitted_by(filter, profile);
    if (options.percentage == "absolute") return admitted;
    keep_only(admitted, profile);
    return std::nullopt;
}

/// --ignore-callees: a stack begins at its outermost function that matches. A caller has a smaller number than what it
/// calls.
Result<void> ignore_callees(const std::string& expression, profile::Profile& profile) {
    const profile::SymbolPattern pattern = TRY(profile::SymbolPattern::compile(expression));
    std::vector<bool> matches(profile.functions.size());
    for (std::uint32_t i = 0; i < profile.functions.size(); ++i)
        matches[i] = pattern.matches(std::string{profile.text(profile.functions[{i}].name)});
    std::vector<profile::StackId> begins;
    begins.reserve(profile.stacks.size());
    for (std::uint32_t i = 0; i < profile.stacks.size(); ++i) {
        const profile::Stack& stack = profile.stacks[{i}];
        const bool is_root = stack.caller == profile::kNone<profile::StackId>;
        const profile::StackId outer = is_root ? stack.caller : begins[stack.caller.value];
        const profile::FunctionId own = function_of(profile, profile.locations[stack.location]);
        const bool begins_here = outer == profile::kNone<profile::StackId> &&
                                 own != profile::kNone<profile::FunctionId> && matches[own.value];
        begins.push_back(begins_here ? profile::StackId{i} : outer);
    }
    for (profile::Sample& sample : profile.samples)
        if (begins[sample.stack.value] != profile::kNone<profile::StackId>) sample.stack = begins[sample.stack.value];
    return {};
}

/// "100ms", as perf has it: s, ms, us or ns.
Result<std::uint64_t> quantum_of(const std::string& text) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
        {{"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
    for (const auto& [unit, ns] : kUnits) {
        if (!text.ends_with(unit)) continue;
        const auto number = whole_number(std::string_view{text}.substr(0, text.size() - unit.size()));
        if (number && *number != 0 && *number < ~std::uint64_t{0} / ns) return *number * ns;
        break;
    }
    return std::unexpected(
        bad_option("--time-quantum " + text, "it is not a time above 0", "give a number with s, ms, us or ns: 10ms"));
}

/// --header and the like. Returns whether that is all.
Result<bool> print_head(const Options& options, Output& out) {
    if (!options.head.any()) return false;
    const perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
    out.print(TRY(head_text(options.input, reader, options.head.full)));
    return options.head.only;
}

/// -D: each record, then how many there are of each type, which a stream cannot be read again for.
Result<int> dump(const Options& options, Output& out) {
    const symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
    RecordDump records{reader, options.input, paths, out, nullptr};
    const perfdata::Summary summary = reader.read(records);
    if (summary.damage) out.note(fmt::format("anyperf: {}: {}\n", summary.damage->what, summary.damage->cause));
    if (options.input == "-") return 0;
    perfdata::Reader again = TRY(perfdata::Reader::open(options.input));
    TRY(print_record_lists({.stats = true}, again, out));
    return 0;
}

/// --total-cycles.
Result<int> report_blocks(const Options& options, Output& out) {
    const symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
    BlockOptions blocks;
    blocks.filters = TRY(filters_of(options.filters));
    blocks.percent_limit = options.percent_limit.value_or(0.0);
    blocks.whole_source_paths = options.whole_source_paths;
    blocks.titles = !options.quiet;
    blocks.separator = options.separator;
    TRY(blocks.filters.time.resolve(reader.facts().first_ns, reader.facts().last_ns));
    TRY(print_blocks(reader, paths, blocks, out));
    return 0;
}

Result<int> report(const Options& given, Output& out) {
    Options options = given;
    const std::vector<std::string> fields = TRY(find_trace_fields(options));
    TableOptions table = TRY(table_of(options, fields));
    const Filters filters = TRY(filters_of(options.filters));
    if (TRY(print_head(options, out))) return 0;
    if (options.dump) return dump(options, out);
    if (options.total_cycles) return report_blocks(options, out);
    if (options.lists.any()) {
        perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
        TRY(print_record_lists(options.lists, reader, out));
        return 0;
    }
    const bool chosen = !options.keys.empty() || !options.columns.empty();
    const profile::SymbolPattern parents =
        TRY(profile::SymbolPattern::compile(options.parents.empty() ? profile::kDefaultParents : options.parents));
    if (std::ranges::find(table.rows.keys, profile::Key::parent) != table.rows.keys.end()) table.rows.parent = &parents;
    TRY(check_keys(options, profile::parts_of(table.rows.keys)));
    symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    // A symbol without a size ends where the next one begins, which may be a variable.
    paths.data_symbols = profile::parts_of(table.rows.keys).has(profile::Part::data_place) ||
                         std::ranges::find(table.rows.keys, profile::Key::symbol_size) != table.rows.keys.end();
    unwind::Unwinder unwinder{paths};
    analysis::ReadOptions wanted = reading(options, table);
    wanted.paths = paths;
    wanted.trace_fields = fields;
    if (!options.time_quantum.empty()) wanted.time_quantum = TRY(quantum_of(options.time_quantum));
    wanted.unwinder = &unwinder;
    filters.add_to(wanted);
    analysis::ReadProfile read = TRY(analysis::read_profile(options.input, wanted));
    if (!chosen && only_tracepoints(read.profile)) {
        table.rows.keys = {profile::Key::trace};
        if (options.hierarchy) table.levels = {1};
    }
    if (table.columns.empty()) table.columns = default_columns(options, table.rows.keys);
    read.profile.whole_source_paths = options.whole_source_paths;
    if (!options.quiet) note_losses(read, out);
    if (wanted.call_chains && !read.has_callers && !options.quiet)
        out.note("anyperf: the recording has no callers: record with -g\n");
    if (!options.ignored_callees.empty()) TRY(ignore_callees(options.ignored_callees, read.profile));
    const auto admitted = leave_out(options, filters.samples, read.profile);
    if (admitted) table.rows.admitted = &*admitted;
    if (options.json)
        out.print(rows_as_json(read.profile, table));
    else
        print_rows(read.profile, table, out);
    if (!options.thread_counts) return 0;
    perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
    TRY(print_thread_counts(reader, out));
    return 0;
}

void declare_columns(CLI::App& verb, Options& options) {
    verb.add_option("-F,--fields", options.columns,
                    "the columns, in place of -s, or +FIELD,… in addition to the default: overhead, overhead_children, "
                    "overhead_sys, overhead_us, sample, "
                    "period, and keys")
        ->delimiter(',')
        ->type_name("FIELD,…");
    verb.add_flag("-n,--show-nr-samples", options.sample_counts, "show the number of samples");
    verb.add_flag("--show-total-period", options.periods, "show the weight of each row");
    verb.add_flag("--show-cpu-utilization", options.modes, "show the shares of the kernel and of programs");
    verb.add_option("-t,--field-separator", options.separator, "put this between the columns, which are not aligned")
        ->type_name("TEXT");
    verb.add_option("--group-sort-idx", options.sorting_event, "of a group: sort by its event N, counted from 0")
        ->type_name("N");
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option("-s,--sort", options->keys,
                    "what samples are summed up by, +KEY,… in addition to the default: comm, pid, tid, cpu, dso, "
                    "symbol, srcline, srcfile, trace; of memory "
                    "accesses and branches see the man page")
        ->delimiter(',')
        ->type_name("KEY,…");
    verb.add_flag("-b,--branch-stack", options->branches, "show each recorded branch as a sample");
    CLI::Option* const cycles = verb.add_flag("--total-cycles", options->total_cycles,
                                              "show the blocks of code between branches, by the cycles in them");
    verb.add_flag("--mem-mode", options->by_weight, "show memory accesses, and weigh each sample by its latency");
    verb.add_option("-p,--parent", options->parents,
                    "with the key parent: the regular expression of the callers that samples are summed up by")
        ->type_name("REGEX");
    verb.add_option("-g,--call-graph", options->stacks,
                    "show the stacks of each row: graph (default), fractal, flat, folded, none; 0.5 (least per cent); "
                    "callee, caller; function, address, srcline; percent, period, count")
        ->expected(0, 1)
        ->type_name("WORD,…");
    verb.add_flag("-G,--inverted", options->inverted, "show the stacks from their outermost functions on");
    verb.add_flag("--children,!--no-children", options->children,
                  "add the weight of what a row calls, and sort by that");
    verb.add_flag("--inline,!--no-inline", options->inlines, "show inlined functions among the callers (default: on)");
    verb.add_flag("--group,!--no-group", options->groups, "show the events of a group in one table (default: on)");
    declare_no_interpreter(verb, options->no_interpreter);
    verb.add_option("--percent-limit", options->percent_limit, "leave out rows and callers with a smaller share")
        ->check(check_percent)
        ->type_name("PERCENT");
    declare_columns(verb, *options);
    verb.add_flag("--hierarchy", options->hierarchy,
                  "a row for each value of the first key, below it those of the second one, and so on; {KEY,…} are one "
                  "level")
        ->excludes(verb.get_option("--fields"));
    declare_filters(verb, "cCdS", options->filters);
    verb.add_option("--symbol-filter", options->filters.symbol_part,
                    "only samples in functions with this in their names")
        ->type_name("TEXT");
    verb.add_option("--socket-filter", options->filters.socket, "only samples of the CPUs of this socket")
        ->type_name("N");
    verb.add_flag("-U,--hide-unresolved", options->filters.only_resolved, "only samples in functions with a name");
    verb.add_flag("-x,--exclude-other", options->only_with_parent, "only rows with a caller that -p matches");
    verb.add_option("--percentage", options->percentage,
                    "what shares are of when samples are left out: absolute, all (default); relative, those shown")
        ->check(CLI::IsMember({"absolute", "relative"}))
        ->type_name("WAY");
    verb.add_option("--max-stack", options->most_frames, "use at most N frames of a call chain")->type_name("N");
    declare_head(verb, options->head);
    verb.add_flag("--stats", options->lists.stats, "print how many records of each type there are, and nothing else");
    verb.add_flag("--tasks", options->lists.tasks,
                  "print the threads below those that have made them, and nothing else");
    verb.add_flag("-D,--dump-raw-trace", options->dump,
                  "print each record byte by byte, with what its fields mean, and nothing else");
    verb.add_flag("--mmaps", options->lists.maps, "the same with what each has mapped");
    verb.add_flag("-T,--threads", options->thread_counts,
                  "print the counts of the threads that ended, too (record -s)");
    verb.add_option("--time-quantum", options->time_quantum, "with the key time: steps of 10ms, 1s, … (default: 100ms)")
        ->type_name("TIME");
    verb.add_option("--ignore-callees", options->ignored_callees,
                    "leave out what functions that the regular expression matches have called")
        ->type_name("REGEX");
    verb.add_flag("--skip-empty,!--no-skip-empty", options->skip_empty,
                  "leave out events without samples (default: on)");
    verb.add_flag("-q,--quiet", options->quiet, "print the rows only, without titles and notes");
    for (const char* names : {"--stdio", "-f,--force", "-v,--verbose", "--ignore-vmlinux"}) declare_always(verb, names);
    for (const char* names : {"--asm-raw,!--no-asm-raw", "--source,!--no-source", "--demangle-kernel"})
        declare_always(verb, names);
    // Of the code that perf's screen shows, and of how wide its columns are.
    for (const char* names : {"--stdio-color", "-M,--disassembler-style", "--percent-type", "--objdump", "--prefix",
                              "--prefix-strip", "-w,--column-widths"})
        declare_always(verb, names, true);
    verb.add_flag("--full-source-path", options->whole_source_paths, "show source files with their directories");
    declare_symbol_options(verb, options->symbols);
    declare_demangle(verb, options->symbols);
    declare_kallsyms(verb, options->symbols);
    verb.add_flag("--json", options->json, "print an array with an object for each row")
        ->excludes(verb.get_option("--hierarchy"));
    for (const char* other : {"--sort", "--fields", "--call-graph", "--inverted", "--children", "--hierarchy",
                              "--mem-mode", "--json", "--no-interpreter"})
        cycles->excludes(verb.get_option(other));
    return [options](Output& out) { return report(*options, out); };
}

}  // namespace

constinit const Verb kReport{"report", "show where the samples of a perf.data file are", declare};

}  // namespace anyperf::cli
