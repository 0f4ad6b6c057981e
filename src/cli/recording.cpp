#include "cli/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cache_directory.h"
#include "cli/reading/losses.h"
#include "try.h"

namespace anyperf::cli {

// perf keeps copies of recorded files in ~/.debug (perf-buildid-cache(1)), and they are used if the files have changed.
symbols::SymbolPaths default_symbol_paths() {
    symbols::SymbolPaths paths;
    if (const char* home = std::getenv("HOME")) paths.build_id_cache = std::string{home} + "/.debug";
    if (const std::string cache = cache_directory(); !cache.empty()) paths.code_cache = cache + "/code";
    return paths;
}

namespace {

/// What --debuginfod is without a value.
constexpr std::string_view kServersOfEnvironment = "DEBUGINFOD_URLS";

}  // namespace

void declare_symbol_options(CLI::App& verb, SymbolOptions& options) {
    verb.add_option("--symfs", options.root, "look for the recorded files below this directory")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR");
    verb.add_flag(fmt::format("--debuginfod{{{}}}", kServersOfEnvironment), options.servers,
                  "get files that are not here from debuginfod servers: =URL, or those of DEBUGINFOD_URLS");
}

void declare_kallsyms(CLI::App& verb, SymbolOptions& options) {
    verb.add_option("--kallsyms", options.kallsyms,
                    "the kernel's names are those of this file: a copy of /proc/kallsyms of the recorded machine")
        ->check(CLI::ExistingFile)
        ->type_name("FILE");
}

void declare_demangle(CLI::App& verb, SymbolOptions& options) {
    verb.add_flag("--demangle,!--no-demangle", options.demangle,
                  "show functions of C++ and Rust by the names of the source (default: on)");
}

void declare_no_interpreter(CLI::App& verb, bool& option) {
    verb.add_flag("--no-interpreter", option,
                  "show Python functions without the frames of the interpreter that runs them");
}

// The man pages name these options; the short help has room for what changes something.
void declare_always(CLI::App& verb, const std::string& names, bool takes_value) {
    CLI::Option* const option =
        takes_value ? verb.add_option_function<std::string>(names, [](const std::string&) {}) : verb.add_flag(names);
    option->group("");
}

Result<symbols::SymbolPaths> symbol_paths(const SymbolOptions& options, Output& out) {
    symbols::SymbolPaths paths = default_symbol_paths();
    paths.root = options.root;
    paths.linkage_names = !options.demangle;
    if (!options.kallsyms.empty()) {
        paths.kallsyms = options.kallsyms;
        paths.kernel_notes.clear();  // the file is of whichever kernel the user says
    }
    if (options.servers.empty()) return paths;
    const auto note = [&out](const std::string& what) { out.note(fmt::format("anyperf: fetching {}\n", what)); };
    paths.debuginfod =
        TRY(symbols::Debuginfod::open(options.servers == kServersOfEnvironment ? "" : options.servers, note));
    return paths;
}

namespace {

constexpr std::size_t kMostLostFiles = 5;  // that are named: a machine's update may replace all of its libraries

/// The files that could not be read and have at least one per cent of the samples, with the number of their samples;
/// most samples first. `all` becomes the number of all samples.
std::vector<std::pair<const profile::Dso*, std::uint64_t>> lost_files(const profile::Profile& profile,
                                                                      std::uint64_t& all) {
    std::vector<std::uint64_t> samples(profile.dsos.size());
    for (const profile::Sample& each : profile.samples) {
        samples[profile.locations[profile.stacks[each.stack].location].dso.value] += each.count;
        all += each.count;
    }
    std::vector<std::pair<const profile::Dso*, std::uint64_t>> lost;
    for (std::uint32_t i = 0; i < profile.dsos.size(); ++i)
        if (const profile::Dso& dso = profile.dsos[{i}]; !profile.text(dso.lost).empty() && samples[i] * 100 >= all)
            lost.emplace_back(&dso, samples[i]);
    std::ranges::stable_sort(lost, std::ranges::greater{}, [](const auto& each) { return each.second; });
    return lost;
}

void note_lost_files(const profile::Profile& profile, Output& out) {
    std::uint64_t all = 0;
    const auto lost = lost_files(profile, all);
    if (all == 0) return;
    for (std::size_t i = 0; i < lost.size() && i < kMostLostFiles; ++i)
        out.note(fmt::format("anyperf: {:.1f}% of the samples have no names: {}\n",
                             100.0 * static_cast<double>(lost[i].second) / static_cast<double>(all),
                             profile.text(lost[i].first->lost)));
}

}  // namespace

void note_losses(const analysis::ReadProfile& read, Output& out) {
    const profile::Recording& recording = read.profile.recording;
    if (const std::string losses = losses_of_recording(recording.lost, recording.no_room); !losses.empty())
        out.note("anyperf: " + losses + "\n");
    if (recording.skipped > 0)
        out.note(fmt::format("anyperf: {} records could not be read and are left out\n", recording.skipped));
    if (read.damage) out.note(fmt::format("anyperf: {}: {}\n", read.damage->what, read.damage->cause));
    note_lost_files(read.profile, out);
}

}  // namespace anyperf::cli
