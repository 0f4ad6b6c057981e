// diff.cpp: `anyperf diff`: what has changed between perf.data files. The command line and the errors are here; the
// statistics are in profile/diff.h, the two output formats in text.cpp and json.cpp.
#include "cli/diff/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/read_profile.h"
#include "cli/diff/computed.h"
#include "cli/diff/views.h"
#include "cli/option_checks.h"
#include "cli/reading/sample_filters.h"
#include "cli/recording.h"
#include "try.h"

namespace anyperf::cli {

namespace {

constexpr const char* kDefaultOld = "perf.data.old";
constexpr const char* kDefaultNew = "perf.data";

struct Options {
    std::vector<std::string> files;
    std::vector<std::string> keys;  ///< empty: the default ones
    std::string computation;        ///< -c
    std::optional<std::size_t> order;
    bool baseline_only = false, periods = false, formula = false;
    std::string separator;
    SymbolOptions symbols;
    FilterOptions filters;
    std::string percentage = "absolute";  ///< what shares are of when samples are left out
    double percent_limit = 0.0;
    bool only_significant = false;
    bool no_interpreter = false;
    bool json = false;
    bool quiet = false;
};

/// Without files, and with only the new one, the names are those of perf diff.
std::vector<std::string> files_to_compare(const std::vector<std::string>& given) {
    if (given.size() >= 2) return given;
    return {kDefaultOld, given.empty() ? kDefaultNew : given.front()};
}

/// What perf's options choose; nothing without them.
Result<std::optional<ComputedOptions>> computed_of(const Options& options) {
    const bool wanted = !options.computation.empty() || options.order || options.baseline_only || options.periods ||
                        options.formula || !options.separator.empty();
    if (!wanted) return std::nullopt;
    ComputedOptions computed{.baseline_only = options.baseline_only,
                             .periods = options.periods,
                             .formula = options.formula,
                             .separator = options.separator};
    if (!options.computation.empty()) computed.computation = TRY(computation_named(options.computation));
    computed.order = options.order.value_or(computed.order);
    return computed;
}

/// perf's without a choice are those of its own table.
std::vector<std::string> keys_of(const Options& options, bool computed) {
    if (!options.keys.empty()) return options.keys;
    return computed ? std::vector<std::string>{"dso", "symbol"} : std::vector<std::string>{"comm", "dso", "symbol"};
}

/// Two runs have no process or thread in common, so their ids cannot be keys.
Result<void> check_keys(const std::vector<profile::Key>& keys) {
    if (std::ranges::find(keys, profile::Key::pid) == keys.end() &&
        std::ranges::find(keys, profile::Key::tid) == keys.end())
        return {};
    return std::unexpected(Error{"cannot compare by pid or tid", "process and thread ids differ between runs",
                                 "use some of: comm cpu dso symbol srcline"});
}

std::optional<profile::EventId> event_named(const profile::Profile& profile, const std::string& name) {
    const auto row = std::ranges::find(profile.events, name, &profile::Event::name);
    if (row == profile.events.end()) return std::nullopt;
    return profile::EventId{static_cast<std::uint32_t>(row - profile.events.begin())};
}

std::string events_of(const profile::Profile& profile) {
    std::vector<std::string_view> names;
    for (const profile::Event& event : profile.events) names.push_back(event.name);
    return fmt::format("{} has {}", profile.recording.path, fmt::join(names, ", "));
}

/// The events that all recordings have. Events are matched by name: their numbers and ids differ between recordings.
Result<std::vector<std::vector<profile::DiffInput>>> common_events(const std::vector<analysis::ReadProfile>& read,
                                                                   const std::vector<std::vector<bool>>& admitted,
                                                                   Output& out) {
    std::vector<std::vector<profile::DiffInput>> found;
    for (const profile::Event& event : read.front().profile.events) {
        std::vector<profile::DiffInput> inputs;
        for (std::size_t i = 0; i < read.size(); ++i)
            if (const auto id = event_named(read[i].profile, event.name))
                inputs.push_back({&read[i].profile, *id, admitted[i].empty() ? nullptr : &admitted[i]});
        if (inputs.size() == read.size())
            found.push_back(std::move(inputs));
        else
            out.note(fmt::format("anyperf: not all recordings have the event {}; it is left out\n", event.name));
    }
    if (!found.empty()) return found;
    std::string events;
    for (const analysis::ReadProfile& each : read) events += (events.empty() ? "" : "; ") + events_of(each.profile);
    return std::unexpected(
        Error{"cannot compare the recordings", "they have no event in common: " + events, "record the same event"});
}

/// Leaves out what the options do not admit. Returns which samples are shown, if the others still count as a part of
/// the whole; else, and if all are shown, nothing.
std::vector<bool> leave_out(const Options& options, const profile::SampleFilter& filter, profile::Profile& profile) {
    if (filter.admits_all()) return {};
    std::vector<bool> admitted = admitted_by(filter, profile);
    if (options.percentage == "absolute") return admitted;
    keep_only(admitted, profile);
    return {};
}

// Call chains are not read, because rows are compared by the weight of their own samples. Lines and CPUs are read only
// if they are keys.
Result<int> diff(const Options& options, Output& out) {
    const std::optional<ComputedOptions> computed = TRY(computed_of(options));
    const std::vector<profile::Key> keys = TRY(profile::keys_named(keys_of(options, computed.has_value())));
    TRY(check_keys(keys));
    const DiffOptions shown{
        .keys = keys, .percent_limit = options.percent_limit, .only_significant = options.only_significant};
    const std::vector<std::string> files = files_to_compare(options.files);
    const auto wants = [&](profile::Key key) { return std::ranges::find(keys, key) != keys.end(); };
    const symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    const Filters filters = TRY(filters_of(options.filters));
    analysis::ReadOptions reading{.call_chains = options.no_interpreter,
                                  .cpu = wants(profile::Key::cpu),
                                  .parts = profile::parts_of(shown.keys),
                                  .source = {.lines = wants(profile::Key::source_line), .inlines = false},
                                  .no_interpreter = options.no_interpreter,
                                  .paths = paths};
    filters.add_to(reading);
    std::vector<analysis::ReadProfile> read;
    std::vector<std::vector<bool>> admitted;
    for (const std::string& file : files) {
        read.push_back(TRY(analysis::read_profile(file, reading)));
        if (!options.quiet) note_losses(read.back(), out);
        admitted.push_back(leave_out(options, filters.samples, read.back().profile));
    }
    std::string text;
    for (const auto& inputs : TRY(common_events(read, admitted, out))) {
        const ComparedEvent compared{inputs.front().profile->events[inputs.front().event].name, files,
                                     profile::compare(inputs, keys)};
        const std::string part = options.json ? diff_as_json(compared, shown)
                                 : computed   ? diff_as_computed(compared, shown, *computed)
                                              : diff_as_text(compared, shown);
        if (!text.empty() && !part.empty()) text += options.json ? ",\n" : "\n\n";
        text += part;
    }
    out.print(options.json ? "[\n" + text + "\n]\n" : text);
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("FILE", options->files,
                    "the recordings; each is compared with the first (default: perf.data.old perf.data)");
    verb.add_option("-s,--sort", options->keys, "what samples are summed up by: comm, cpu, dso, symbol, srcline")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("KEY,…");
    verb.add_option("--percent-limit", options->percent_limit, "leave out rows with smaller shares in all recordings")
        ->check(check_percent)
        ->type_name("PERCENT");
    verb.add_flag("--significant", options->only_significant, "leave out rows without a significant change");
    verb.add_option("-c,--compute", options->computation,
                    "print perf's table of: delta, delta-abs, ratio, wdiff:W1,W2 (weighted difference)")
        ->type_name("WAY");
    verb.add_option("-o,--order", options->order, "perf's table, sorted by recording N; 0: the baseline")
        ->type_name("N");
    verb.add_flag("-b,--baseline-only", options->baseline_only, "perf's table, with rows that the baseline has");
    verb.add_flag("-p,--period", options->periods, "perf's table, with the weights");
    verb.add_flag("-F,--formula", options->formula, "perf's table, with what is computed");
    verb.add_option("-t,--field-separator", options->separator, "perf's table, with this between its columns")
        ->type_name("TEXT");
    declare_filters(verb, "mdS", options->filters);
    verb.add_option("--percentage", options->percentage,
                    "what shares are of when samples are left out: absolute, all (default); relative, those shown")
        ->check(CLI::IsMember({"absolute", "relative"}))
        ->type_name("WAY");
    declare_no_interpreter(verb, options->no_interpreter);
    declare_symbol_options(verb, options->symbols);
    declare_kallsyms(verb, options->symbols);
    verb.add_flag("-q,--quiet", options->quiet, "print no notes about losses");
    for (const char* names : {"-f,--force", "-v,--verbose"}) declare_always(verb, names);
    verb.add_flag("--json", options->json, "print an array with an object for each row");
    return [options](Output& out) { return diff(*options, out); };
}

}  // namespace

constinit const Verb kDiff{"diff", "show what has changed between perf.data files", declare};

}  // namespace anyperf::cli
