// hook.h: the commands of --pre and --post, which prepare for a run and clean up after it. They are not measured.
#pragma once

#include <string>

#include "anyperf/error.h"
#include "cli/command/waiting.h"

namespace anyperf::cli::stat {

/// Runs `text` by a shell and waits for it. Returns the signal that asked this process to end meanwhile, or 0. Error:
/// the shell could not be started, or the command failed and no such signal came. `option` ("--pre") is for the
/// message.
Result<int> run_hook(const std::string& text, const char* option, BlockedSignals& signals);

}  // namespace anyperf::cli::stat
