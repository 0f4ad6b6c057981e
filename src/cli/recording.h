// recording.h: what the verbs that read a recording have in common.
#pragma once

#include <string>

#include "analysis/read_profile.h"
#include "cli/output/output.h"
#include "symbols/dso.h"

namespace anyperf::cli {

/// Where names are looked for. `root` is the directory of --symfs, or empty.
symbols::SymbolPaths symbol_paths(const std::string& root);

/// Notes what the recording or the reading has lost, and files without names: those that had at least a hundredth of
/// the samples and are not there any more, or have been built anew.
void note_losses(const analysis::ReadProfile& read, Output& out);

}  // namespace anyperf::cli
