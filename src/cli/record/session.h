// session.h: one recording, from the start of the command to the finished file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/command.h"
#include "cli/command/waiting.h"
#include "cli/output/output.h"
#include "cli/record/options.h"
#include "cli/record/plan.h"

namespace anyperf::cli::record {

/// What was recorded.
struct Recorded {
    ExitInfo exit_info;               ///< of the command
    int interrupted_by = 0;           ///< the signal that ended a recording without a command
    std::uint64_t samples = 0;        ///< in the file; with --switch-output, in the last one
    std::string file;                 ///< with --switch-output: the name of the last file
    std::uint64_t lost = 0;           ///< records that could not be written into the rings
    std::uint64_t locked_out = 0;     ///< those of them that met a locked ring; the others found no room
    std::uint64_t data_bytes = 0;     ///< of records in the file
    std::optional<Error> failure;     ///< the file is not complete; what it has is valid
    std::uint64_t dropped_bytes = 0;  ///< of records that could not be written
};

/// Records by the plan into options.output. Returns when the command or the awaited tasks have ended, or after a
/// signal. Notes go to `output` meanwhile. Precondition: `signals` are blocked. Error: nothing was recorded, since an
/// event was refused or the file could not be created; a failure later on is in Recorded::failure.
Result<Recorded> record_once(Plan& plan, const Options& options, BlockedSignals& signals, Output& output);

}  // namespace anyperf::cli::record
