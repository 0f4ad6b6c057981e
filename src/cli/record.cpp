// record.cpp: `anyperf record`: samples events of a command, of processes, or of the machine, into a perf.data file.
//
// The parts, in the order in which they work: options.h (what the user wants), plan.h (which events, and what records
// them), session.h (one recording). They use src/recording for attrs, rings and records of what exists.
#include "cli/record.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command/command_words.h"
#include "cli/record/options.h"
#include "cli/record/plan.h"
#include "cli/record/session.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using record::Options;
using record::Recorded;

/// The file of the recording, and an earlier file of the same name. As perf does, the earlier one is kept as FILE.old.
/// If nothing is recorded after all, it gets its name back. Otherwise two mistyped commands in a row would destroy a
/// good recording: the first would rename it, and the second would replace FILE.old.
class OutputFile {
  public:
    explicit OutputFile(const Options& options) : path_(options.output), old_(options.output + ".old") {
        std::error_code ignored;
        if (options.to_pipe()) return;
        existed_ = std::filesystem::exists(path_, ignored);
        if (!std::filesystem::is_regular_file(path_, ignored) || std::filesystem::file_size(path_, ignored) == 0)
            return;
        std::filesystem::rename(path_, old_, ignored);
        kept_ = !ignored;
    }

    /// Called when nothing was recorded.
    void undo() {
        std::error_code ignored;
        if (kept_)
            std::filesystem::rename(old_, path_, ignored);
        else if (!existed_ && std::filesystem::is_regular_file(path_, ignored))
            std::filesystem::remove(path_, ignored);
    }

  private:
    std::filesystem::path path_;
    std::filesystem::path old_;
    bool existed_ = true;
    bool kept_ = false;
};

std::string summary_of(const Recorded& recorded, const Options& options) {
    const std::string where = options.to_pipe()       ? "standard output"
                              : recorded.file.empty() ? options.output
                                                      : recorded.file;
    std::string text = fmt::format("anyperf: {} samples in {} ({:.3f} MB)\n", recorded.samples, where,
                                   static_cast<double>(recorded.data_bytes) / 1e6);
    if (recorded.lost > 0)
        text += fmt::format("anyperf: {} records were lost because a ring was full; try a larger -m, or a lower -F\n",
                            recorded.lost);
    return text;
}

Result<int> run_record(Options& options, Output& output) {
    TRY(record::check(options));
    auto plan = TRY(record::make_plan(options));
    if (!options.quiet)
        for (const auto& note : plan.notes) output.note("anyperf: " + note + "\n");
    if (options.dry_run) return 0;
    OutputFile file{options};
    Result<Recorded> result;
    {
        auto signals = TRY(BlockedSignals::block());
        result = record::record_once(plan, options, signals, output);
    }
    plan.hosted.reset();
    if (!result) file.undo();
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
