#include "cli/recording.h"

#include <fmt/format.h>

#include <cstdlib>

namespace anyperf::cli {

// perf keeps copies of recorded files in ~/.debug (perf-buildid-cache(1)), and they are used if the files have changed.
symbols::SymbolPaths symbol_paths(const std::string& root) {
    symbols::SymbolPaths paths;
    paths.root = root;
    if (const char* home = std::getenv("HOME")) paths.build_id_cache = std::string{home} + "/.debug";
    return paths;
}

void note_losses(const analysis::ReadProfile& read, Output& out) {
    const profile::Recording& recording = read.profile.recording;
    if (recording.lost > 0)
        out.note(fmt::format("anyperf: {} records were lost while recording, because the rings were full\n",
                             recording.lost));
    if (recording.skipped > 0)
        out.note(fmt::format("anyperf: {} records could not be read and are left out\n", recording.skipped));
    if (read.damage) out.note(fmt::format("anyperf: {}: {}\n", read.damage->what, read.damage->cause));
}

}  // namespace anyperf::cli
