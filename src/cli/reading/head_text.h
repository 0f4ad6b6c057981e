// head_text.h: --header of report and script: what a recording says about itself, in perf's words
// (perf_session__fprintf_info() in tools/perf/util/header.c).
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "anyperf/error.h"
#include "perfdata/reader.h"

namespace anyperf::cli {

struct HeadOptions {
    bool shown = false;  ///< --header
    bool only = false;   ///< --header-only: and nothing else
    bool full = false;   ///< -I: with the places of CPUs and the like

    bool any() const { return shown || only || full; }
};
void declare_head(CLI::App& verb, HeadOptions& options);

/// Lines that begin with "# ". Error: the recording is in pipe mode, where the facts come with the samples.
Result<std::string> head_text(const std::string& path, const perfdata::Reader& reader, bool full);

}  // namespace anyperf::cli
