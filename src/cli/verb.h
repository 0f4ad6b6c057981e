// verb.h: what a verb is. A verb is a file of its own; verbs.cpp lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

#include "anyperf/error.h"
#include "cli/output.h"

namespace anyperf::cli {

/// Runs a verb whose options were parsed. The value is the exit status: 0, or the command's own.
using Run = std::function<Result<int>(Output&)>;

struct Verb {
    std::string_view name;
    std::string_view summary;   ///< one line, for `anyperf --help`
    Run (*declare)(CLI::App&);  ///< adds the options; the Run owns what they are parsed into
};

}  // namespace anyperf::cli
