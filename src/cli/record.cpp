// record.cpp: `anyperf record`: samples events of a command, of processes, or of the machine, into a perf.data file.
//
// The parts, in the order in which they work: options.h (what the user wants), plan.h (which events, and what records
// them), session.h (one recording). They use src/recording for attrs, rings and records of what exists.
#include "cli/record.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/command/command_words.h"
#include "cli/reading/losses.h"
#include "cli/record/options.h"
#include "cli/record/output_files.h"
#include "cli/record/plan.h"
#include "cli/record/session.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using record::Options;
using record::Recorded;

std::string summary_of(const Recorded& recorded, const Options& options) {
    const std::string where = options.to_pipe()       ? "standard output"
                              : recorded.file.empty() ? options.output
                                                      : recorded.file;
    std::string text = fmt::format("anyperf: {} samples in {} ({:.3f} MB)\n", recorded.samples, where,
                                   static_cast<double>(recorded.data_bytes) / 1e6);
    const std::string losses = losses_text(recorded.lost, recorded.locked_out);
    return losses.empty() ? text : text + "anyperf: " + losses + "\n";
}

Result<int> run_record(Options& options, Output& output) {
    TRY(record::check(options));
    auto plan = TRY(record::make_plan(options));
    if (!options.quiet)
        for (const auto& note : plan.notes) output.note("anyperf: " + note + "\n");
    if (options.dry_run) return 0;
    std::optional<record::EarlierRecording> earlier;
    if (!options.to_pipe()) earlier.emplace(options.output);
    Result<Recorded> result;
    {
        auto signals = TRY(BlockedSignals::block());
        result = record::record_once(plan, options, signals, output);
    }
    plan.hosted.reset();
    if (!result && earlier) earlier->undo();
    const Recorded recorded = TRY(std::move(result));
    if (!options.quiet) output.note(summary_of(recorded, options));
    if (recorded.failure) {
        Error failure = *recorded.failure;
        if (recorded.dropped_bytes > 0)
            failure.cause += fmt::format("; {} has the records from before that, and {} bytes are missing",
                                         options.output, recorded.dropped_bytes);
        return std::unexpected(failure);
    }
    std::fflush(nullptr);
    die_by_signal_of(recorded.exit_info);
    return recorded.exit_info.exit_status;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    record::declare_options(verb, *options);
    return [options, &verb](Output& output) -> Result<int> {
        options->command = TRY(command_words(verb));
        options->event_filters = TRY(assign_filters(verb, options->filters));
        return run_record(*options, output);
    };
}

}  // namespace

constinit const Verb kRecord{"record", "sample events of a command, of processes, or of the machine", declare};

}  // namespace anyperf::cli
