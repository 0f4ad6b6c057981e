// command_words.h: finds where a verb's own options end and the command that it runs begins. CLI11's prefix_command()
// stops at the first word that is not an option; this header adds what CLI11 does not do: the separator `--`, and an
// error for an unknown option before the command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

/// Whether the words after the verb's options are a command, which the verb runs.
bool takes_command(const CLI::App& verb);

/// Returns `args`, the words after the verb's name, with long options that are abbreviated written in full, as perf
/// reads them: "--comm" is "--comms" if nothing else begins so. The words of a command stay. Error: a `--` follows an
/// option that needs a value; "--option=--" gives that value.
Result<std::vector<std::string>> with_whole_names(const CLI::App& verb, std::vector<std::string> args);

/// Returns `args`, the words after the verb's name, without the `--` that ends the verb's options. CLI11 would parse
/// the words after that `--` as options of the program itself. A `--` that belongs to the command stays. The verb must
/// have set prefix_command(); its command is then in `remaining()`.
std::vector<std::string> without_separator(const CLI::App& verb, std::vector<std::string> args);

/// The command of a parsed verb; empty if there is none. Error: the first remaining word looks like an option, so it is
/// an unknown one.
Result<std::vector<std::string>> command_words(const CLI::App& verb);

}  // namespace anyperf::cli
