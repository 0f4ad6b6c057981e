// export.cpp: `anyperf export`: the samples of a perf.data file in a format of another program. What the format cannot
// carry is not read (exports/exporter.h); what it cannot show of what the user asked for is refused before the
// recording is read, or is a note.
#include "cli/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/read_profile.h"
#include "cli/reading/sample_filters.h"
#include "cli/recording.h"
#include "exports/exporter.h"
#include "profile/valid_text.h"
#include "try.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::string input = "perf.data";
    std::string output = "-";
    std::string format;
    std::vector<std::string> events;
    std::string baseline;
    SymbolOptions symbols;
    FilterOptions filters;
    bool inlines = true;
    bool no_interpreter = false;
};

std::string format_names() {
    std::vector<std::string_view> names;
    for (const exports::Format& format : exports::formats()) names.push_back(format.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

Result<const exports::Format*> chosen_format(const std::string& name) {
    if (const exports::Format* format = exports::format_named(name)) return format;
    return std::unexpected(Error{fmt::format("cannot export to '{}'", name), "it is not a format that export has",
                                 "use one of: " + format_names()});
}

std::string event_names(const profile::Profile& profile) {
    std::vector<std::string_view> names;
    for (const profile::Event& event : profile.events) names.push_back(event.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// The events with these names; all without a name.
Result<std::vector<profile::EventId>> chosen_events(const profile::Profile& profile,
                                                    const std::vector<std::string>& names) {
    std::vector<profile::EventId> events;
    if (profile.events.empty()) return std::unexpected(Error{"cannot export the recording", "it has no events", {}});
    for (std::uint32_t i = 0; names.empty() && i < profile.events.size(); ++i) events.push_back({i});
    for (const std::string& name : names) {
        const auto row = std::ranges::find(profile.events, name, &profile::Event::name);
        if (row == profile.events.end())
            return std::unexpected(Error{fmt::format("cannot export the event '{}'", name),
                                         profile.recording.path + " does not have it",
                                         "its events are " + event_names(profile)});
        events.push_back({static_cast<std::uint32_t>(row - profile.events.begin())});
    }
    return events;
}

/// The file that is written, in parts, or the results. It is made when the first part comes.
class Target {
  public:
    Target(std::string path, Output& out) : path_(std::move(path)), out_(out) {}
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    ~Target() {
        if (file_) std::fclose(file_);
    }

    /// After an error it does nothing.
    void write(std::string_view text) {
        if (path_ == "-") return out_.print(text);
        if (!file_ && !errno_) file_ = std::fopen(path_.c_str(), "wbe");
        const bool written = !errno_ && file_ && std::fwrite(text.data(), 1, text.size(), file_) == text.size();
        if (!written && !errno_) errno_ = errno;
    }
    /// An error of fclose(3) counts: a full disk may only show then.
    Result<void> finish() {
        if (file_ && std::fclose(std::exchange(file_, nullptr)) != 0 && !errno_) errno_ = errno;
        if (!errno_) return {};
        return std::unexpected(Error{fmt::format("cannot write {}", path_), std::generic_category().message(*errno_),
                                     "the file is missing or not complete; export it again"});
    }

  private:
    std::string path_;
    Output& out_;
    std::FILE* file_ = nullptr;
    std::optional<int> errno_;
};

/// What can be refused before a recording is read.
Result<const exports::Format*> checked_format(const Options& options) {
    const exports::Format* format = TRY(chosen_format(options.format));
    if (format->binary && options.output == "-" && isatty(STDOUT_FILENO) != 0)
        return std::unexpected(Error{fmt::format("{} is not written to a terminal", format->name),
                                     "the format is not text", "add -o FILE, or redirect the output"});
    if (!format->baseline && !options.baseline.empty())
        return std::unexpected(Error{fmt::format("{} cannot be compared with a baseline", format->name),
                                     "the format has one profile", "use --baseline with -f html"});
    return format;
}

// Only what the format carries is kept while reading: samples of one stack are summed up unless the format has times,
// and processes and threads are merged unless it has threads.
Result<analysis::ReadProfile> read(const std::string& path, const Options& options, const exports::Format& format,
                                   Output& out) {
    const symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    unwind::Unwinder unwinder{paths};
    const Filters filters = TRY(filters_of(options.filters));
    analysis::ReadOptions wanted{.pid = format.threads,
                                 .tid = format.threads,
                                 .source = {.lines = true, .inlines = options.inlines},
                                 .no_interpreter = options.no_interpreter,
                                 .times = format.times,
                                 .paths = paths,
                                 .unwinder = &unwinder};
    filters.add_to(wanted);
    analysis::ReadProfile result = TRY(analysis::read_profile(path, wanted));
    if (!filters.samples.admits_all()) keep_only(admitted_by(filters.samples, result.profile), result.profile);
    note_losses(result, out);
    return result;
}

// The order serves the user's time: options are checked first, then the recording is read, then its events are checked.
// The file is written last, so an error before that leaves an old file as it was.
Result<int> export_profile(const Options& options, Output& out) {
    const exports::Format& format = *TRY(checked_format(options));
    analysis::ReadProfile exported = TRY(read(options.input, options, format, out));
    make_texts_valid(exported.profile);
    const profile::Profile& profile = exported.profile;
    const std::vector<profile::EventId> events = TRY(chosen_events(profile, options.events));
    exports::ExportOptions writing{.events = events, .version = ANYPERF_VERSION};
    const std::string& event = profile.events[writing.events.front()].name;
    if (format.one_event && writing.events.size() > 1)
        out.note(fmt::format("anyperf: {} has one event, so it is {}; the recording has {} (choose with -e)\n",
                             format.name, event, event_names(profile)));
    std::optional<analysis::ReadProfile> baseline;
    if (!options.baseline.empty()) {
        baseline = TRY(read(options.baseline, options, format, out));
        writing.baseline = &baseline->profile;
        const std::vector<profile::EventId> same = TRY(chosen_events(baseline->profile, {event}));
        writing.baseline_event = same.front();
        make_texts_valid(baseline->profile);
    }
    Target target{options.output, out};
    writing.take_part = [&](std::string_view part) { target.write(part); };
    target.write(format.write(profile, writing));
    TRY(target.finish());
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-f,--format", options->format, "the format to write: " + format_names())
        ->required()
        ->type_name("FORMAT");
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option("-o,--output", options->output, "the file to write; standard output by default")->type_name("FILE");
    verb.add_option("-e,--event", options->events, "the events to export, by the names that they have in the recording")
        ->delimiter(',')
        ->type_name("EVENT,…");
    verb.add_option("--baseline", options->baseline, "html: show the difference to this recording")->type_name("FILE");
    verb.add_flag("--inline,!--no-inline", options->inlines, "inlined functions are frames of their own (default: on)");
    declare_filters(verb, "cCdS", options->filters);
    declare_no_interpreter(verb, options->no_interpreter);
    declare_symbol_options(verb, options->symbols);
    declare_kallsyms(verb, options->symbols);
    return [options](Output& out) { return export_profile(*options, out); };
}

}  // namespace

constinit const Verb kExport{"export", "write the samples of a perf.data file in a format of another program", declare};

}  // namespace anyperf::cli
