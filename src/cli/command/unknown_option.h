// unknown_option.h: the error for an option that a verb does not have. It suggests similar options of the verb.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "anyperf/error.h"

namespace anyperf::cli {

/// `word` is as typed: "--jsno" or "--jsno=value". The fix suggests long options of the verb, or its --help.
Error unknown_option(const CLI::App& verb, const std::string& word);

}  // namespace anyperf::cli
