// command_line.h: where a verb's own options end and the command that it runs begins.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

/// For a verb that takes a command (it has set `prefix_command()`; the words are then in `remaining()`). Takes the `--`
/// out of `args` that ends the verb's options: CLI11 would hand what follows it to the program's own options.
/// `args` are the words behind the verb's name.
std::vector<std::string> without_separator(const CLI::App& verb, std::vector<std::string> args);

/// The command of a verb that was parsed; empty where there is none. Error: what stands there is an unknown option.
Result<std::vector<std::string>> command_words(const CLI::App& verb);

}  // namespace anyperf::cli
