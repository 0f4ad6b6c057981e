// verb.h: the interface between `main` and a verb. A verb is a file (and perhaps a folder) of src/cli; verbs.cpp lists
// them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

#include "anyperf/error.h"
#include "cli/output/output.h"

namespace anyperf::cli {

/// Executes a verb after its options were parsed. The value is anyperf's exit status: 0, the command's own, or the
/// status of a failed gate (`stat`) or of a failed bench.
using VerbAction = std::function<Result<int>(Output&)>;

struct Verb {
    std::string_view name;
    std::string_view summary;          ///< one line, for `anyperf --help`
    VerbAction (*declare)(CLI::App&);  ///< adds the options; the action owns the variables that hold their values
};

}  // namespace anyperf::cli
