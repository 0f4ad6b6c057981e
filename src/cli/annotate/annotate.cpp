// annotate.cpp: `anyperf annotate`: the code of hot functions with the samples of each instruction.
#include "cli/annotate/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/read_profile.h"
#include "annotation/annotate.h"
#include "annotation/source_text.h"
#include "cli/annotate/views.h"
#include "cli/option_checks.h"
#include "cli/reading/sample_filters.h"
#include "cli/recording.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::string input = "perf.data";
    std::string symbol;
    std::string word;  ///< the symbol as an argument without -s, which perf annotate takes as well
    std::string syntax = "att";
    SymbolOptions symbols;
    double percent_limit = 0.5;
    bool source = true;
    bool json = false;
    bool quiet = false;
    ShownParts parts;
    std::string percent_type = "local-period";
    bool no_interpreter = false;
    bool groups = false;  ///< --group
    FilterOptions filters;
    annotation::SourcePrefix prefix;
};

/// As perf names them, in either order.
const std::vector<std::string> kPercentTypes{"local-period",  "period-local",  "local-hits",  "hits-local",
                                             "global-period", "period-global", "global-hits", "hits-global"};

annotation::Heat heat_of(const profile::Profile& profile, profile::EventId event) {
    annotation::Heat heat;
    for (const profile::Sample& sample : profile.samples) {
        if (profile.contexts[sample.context].event != event) continue;
        heat.samples += sample.count;
        heat.weight += sample.weight;
    }
    return heat;
}

/// Why some dsos have no symbols, each reason after "; ". The function that the user asked for may be in one of these
/// dsos.
std::string unnamed_dsos(const profile::Profile& profile, annotation::Annotator& annotator) {
    std::string text;
    for (const profile::Dso& dso : profile.dsos)
        if (const std::string why = annotator.why_no_symbols(dso, profile); !why.empty()) text += "; " + why;
    return text;
}

/// An event with the functions that have samples of it.
struct EventHeat {
    profile::EventId event;
    annotation::Heat heat;  ///< of all functions
    std::vector<annotation::HotFunction> functions;
};

/// Whether a function is shown. If the user named one: those of this name, demangled or as in the symbol table. Else
/// those with a large enough share of the event.
bool is_chosen(const profile::Profile& profile, const EventHeat& event, const annotation::HotFunction& hot,
               const Options& options) {
    const profile::Function& function = profile.functions[hot.function];
    if (!options.symbol.empty())
        return profile.text(function.name) == options.symbol || profile.text(function.linkage_name) == options.symbol;
    return static_cast<double>(hot.heat.weight) >=
           options.percent_limit / 100.0 * static_cast<double>(event.heat.weight);
}

/// The events that are shown together: with --group those of a group, else each one alone.
std::vector<std::vector<EventHeat>> event_groups(const profile::Profile& profile, bool together) {
    std::vector<std::vector<EventHeat>> groups;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) {
        const auto& leader = profile.events[{i}].leader;
        const bool follows = together && i > 0 && leader && leader == profile.events[{i - 1}].leader;
        if (!follows) groups.emplace_back();
        groups.back().push_back({{i}, heat_of(profile, {i}), annotation::hot_functions(profile, {i})});
    }
    return groups;
}

/// The functions to show, the hottest first: those that are chosen for any event, in the order of the first event.
std::vector<profile::FunctionId> chosen(const profile::Profile& profile, const std::vector<EventHeat>& group,
                                        const Options& options) {
    std::vector<profile::FunctionId> functions;
    for (const EventHeat& event : group)
        for (const annotation::HotFunction& each : event.functions)
            if (is_chosen(profile, event, each, options) &&
                std::ranges::find(functions, each.function) == functions.end())
                functions.push_back(each.function);
    return functions;
}

/// One function with the samples of all events of a group. Error: as of Annotator::annotate().
Result<AnnotatedEvent> annotate_group(const profile::Profile& profile, const std::vector<EventHeat>& group,
                                      profile::FunctionId function, annotation::Annotator& annotator) {
    std::vector<AnnotatedEvent> events;
    events.reserve(group.size());
    for (const EventHeat& event : group) {
        const auto known = std::ranges::find(event.functions, function, &annotation::HotFunction::function);
        const annotation::Heat heat = known == event.functions.end() ? annotation::Heat{} : known->heat;
        auto annotation = TRY(annotator.annotate(profile, event.event, {function, heat}));
        events.push_back({profile.events[event.event].name, event.heat, std::move(annotation)});
    }
    AnnotatedEvent shown = std::move(events.front());
    shown.others.assign(std::make_move_iterator(events.begin() + 1), std::make_move_iterator(events.end()));
    return shown;
}

/// Prints annotations one after the other. A function that cannot be annotated becomes a note; if none can be, the last
/// error is that of the verb.
class Printer {
  public:
    Printer(const Options& options, Output& out, std::shared_ptr<symbols::Debuginfod> servers)
        : options_(options), out_(out), source_(options.symbols.root, std::move(servers), options.prefix) {}

    void print(const AnnotatedEvent& shown) {
        annotation::SourceText* source = options_.source ? &source_ : nullptr;
        source_.use_build_id(shown.annotation.build_id);
        if (options_.json)
            out_.print((count_ == 0 ? "[\n" : ",\n") + annotation_as_json(shown, source));
        else
            out_.print((count_ == 0 ? "" : "\n\n") + annotation_as_text(shown, source, options_.parts));
        ++count_;
    }
    // Prints the error before this one, and keeps this one. If nothing can be annotated, the last error becomes that of
    // the verb, which `main` prints.
    void note(const Error& error) {
        if (error_) out_.note(fmt::format("anyperf: {}: {}\n", error_->what, error_->cause));
        error_ = error;
    }
    Result<int> finish() {
        if (count_ == 0 && error_) return std::unexpected(*error_);
        if (error_) out_.note(fmt::format("anyperf: {}: {}\n", error_->what, error_->cause));
        if (options_.json) out_.print(count_ == 0 ? "[]\n" : "\n]\n");
        if (count_ == 0) out_.note("anyperf: there is nothing to show: no function with a name has enough samples\n");
        for (const auto& [file, why] : source_.unreadable())
            out_.note(fmt::format("anyperf: cannot read the source {}: {}\n", file, why));
        return 0;
    }
    bool empty() const { return count_ == 0 && !error_; }

  private:
    const Options& options_;
    Output& out_;
    annotation::SourceText source_;
    std::optional<Error> error_;
    std::size_t count_ = 0;
};

// Call chains are not read: annotate shows where samples are, not who called. Functions of Python are callers of the
// interpreter, so they are read for these. Functions are annotated for each event of
// the recording, since a function may be hot for one only.
Result<int> annotate(Options options, Output& out) {
    if (options.symbol.empty()) options.symbol = options.word;
    options.parts.of_samples = options.percent_type.contains("hits");
    options.parts.of_event = options.percent_type.contains("global");
    const auto paths = TRY(symbol_paths(options.symbols, out));
    const Filters filters = TRY(filters_of(options.filters));
    analysis::ReadOptions wanted{
        .call_chains = options.no_interpreter, .no_interpreter = options.no_interpreter, .paths = paths};
    filters.add_to(wanted);
    analysis::ReadProfile read = TRY(analysis::read_profile(options.input, wanted));
    if (!filters.samples.admits_all()) keep_only(admitted_by(filters.samples, read.profile), read.profile);
    if (!options.quiet) note_losses(read, out);
    const profile::Profile& profile = read.profile;
    annotation::Annotator annotator{paths,
                                    options.syntax == "intel" ? annotation::Syntax::intel : annotation::Syntax::att};
    Printer printer{options, out, paths.debuginfod};
    for (const std::vector<EventHeat>& group : event_groups(profile, options.groups)) {
        for (const profile::FunctionId each : chosen(profile, group, options)) {
            const auto shown = annotate_group(profile, group, each, annotator);
            if (shown)
                printer.print(*shown);
            else
                printer.note(shown.error());
        }
    }
    if (!options.symbol.empty() && printer.empty())
        return std::unexpected(Error{"cannot annotate " + options.symbol,
                                     "no sample is in a function of this name" + unnamed_dsos(profile, annotator),
                                     options.no_interpreter
                                         ? "anyperf report --no-interpreter lists the functions that have samples"
                                         : "anyperf report lists the functions that have samples; for a function of a "
                                           "Python program add --no-interpreter"});
    return printer.finish();
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option("-s,--symbol", options->symbol, "the function to show; without it all that have enough samples")
        ->type_name("SYMBOL");
    verb.add_option("SYMBOL", options->word, "the function to show, as -s")->excludes("--symbol");
    verb.add_option("--percent-limit", options->percent_limit,
                    "without a function: leave out those with a smaller share of the event (default: 0.5)")
        ->check(check_percent)
        ->type_name("PERCENT");
    verb.add_option("-M,--disassembler-style", options->syntax, "how instructions are written: att (default), intel")
        ->check(CLI::IsMember({"att", "intel"}))
        ->type_name("STYLE");
    verb.add_flag("--source,!--no-source", options->source, "show the source lines (default: on)");
    verb.add_flag("--group", options->groups, "show the events of a group together, each in a column");
    declare_no_interpreter(verb, options->no_interpreter);
    declare_symbol_options(verb, options->symbols);
    declare_demangle(verb, options->symbols);
    declare_filters(verb, "cCd", options->filters);
    verb.add_flag("-n,--show-nr-samples", options->parts.samples, "show the number of samples of each instruction");
    verb.add_flag("--show-total-period", options->parts.periods, "show their weight");
    verb.add_option("--percent-type", options->percent_type,
                    "what per cent are of: local-period (default: the weight of the function), local-hits (its number "
                    "of samples), global-period, global-hits (of all functions)")
        ->check(CLI::IsMember(kPercentTypes))
        ->type_name("TYPE");
    verb.add_flag("--asm-raw,!--no-asm-raw", options->parts.bytes, "show the bytes of instructions");
    verb.add_flag("-P,--full-paths", options->parts.directories, "show source files with their directories");
    CLI::Option* prefix =
        verb.add_option("--prefix", options->prefix.path, "put this before the directories of source files")
            ->type_name("DIR");
    verb.add_option("--prefix-strip", options->prefix.strip, "leave out the first N parts of these directories")
        ->needs(prefix)
        ->transform(whole_number_from(std::size_t{0}, std::size_t{1000}))
        ->type_name("N");
    verb.add_flag("-q,--quiet", options->quiet, "print no notes about losses");
    for (const char* names :
         {"--stdio", "--stdio2", "-f,--force", "-v,--verbose", "--ignore-vmlinux", "--skip-missing", "-l,--print-line"})
        declare_always(verb, names);
    declare_always(verb, "--stdio-color", true);
    verb.add_flag("--json", options->json, "print an array with an object for each function");
    return [options](Output& out) { return annotate(*options, out); };
}

}  // namespace

constinit const Verb kAnnotate{"annotate", "show the code of hot functions with the samples of each instruction",
                               declare};

}  // namespace anyperf::cli
