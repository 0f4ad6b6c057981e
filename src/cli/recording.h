// recording.h: what the verbs that read a recording have in common.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "analysis/read_profile.h"
#include "cli/output/output.h"
#include "symbols/dso.h"

namespace anyperf::cli {

/// The options of all verbs that look names up.
struct SymbolOptions {
    std::string root;      ///< --symfs
    std::string servers;   ///< --debuginfod: URLs; empty: not given
    std::string kallsyms;  ///< --kallsyms: a copy of a machine's /proc/kallsyms; empty: this machine's
    bool demangle = true;  ///< --no-demangle: false
};
void declare_symbol_options(CLI::App& verb, SymbolOptions& options);
/// --kallsyms, of the verbs that have it in perf, and of export.
void declare_kallsyms(CLI::App& verb, SymbolOptions& options);

/// --demangle and --no-demangle.
void declare_demangle(CLI::App& verb, SymbolOptions& options);

/// --no-interpreter, for ReadOptions::no_interpreter.
void declare_no_interpreter(CLI::App& verb, bool& option);

/// An option of perf's that asks for what is always so. `names` as for CLI11; `takes_value`: its value does not matter.
void declare_always(CLI::App& verb, const std::string& names, bool takes_value = false);

/// Where names are looked for. Fails if debuginfod servers are asked for and none can be asked.
Result<symbols::SymbolPaths> symbol_paths(const SymbolOptions& options, Output& out);
/// The same without options.
symbols::SymbolPaths default_symbol_paths();

/// Notes what the recording or the reading has lost, and files without names: those that had at least a hundredth of
/// the samples and are not there any more, or have been built anew.
void note_losses(const analysis::ReadProfile& read, Output& out);

}  // namespace anyperf::cli
