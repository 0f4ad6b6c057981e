// run_identity.h: what determines the counts of a run besides the program: the command line, the environment, the CPU,
// what counted. `stat --json` writes it, so that a gate can refuse to compare two runs that differ in it, and can name
// the difference.
#pragma once

#include <string>
#include <vector>

#include "cli/stat/options.h"

namespace anyperf::cli::stat {

/// The texts are compared for equality only. An empty text is unknown, and no obstacle. Empty `settings` are unknown
/// only if `version` is, too; otherwise no option was given.
struct RunIdentity {
    std::vector<std::string> command;
    std::string version;      ///< of anyperf
    std::string mode;         ///< what counted: "kernel" or "virtual"
    std::string cpu;          ///< model and a hash of the features, from the /proc/cpuinfo that anyperf sees
    std::string settings;     ///< the options of the presented machine as given (machine_options.h); empty: none
    std::string environment;  ///< hash of all variables but `_`, which shells set to the path of each command
    std::string program;      ///< build id of the program's file, or a hash of its contents
    bool repeats = false;     ///< the run was deterministic, so a difference of the environment changes its counts
};

/// The identity of a run of the command in `options`. `mode` is "kernel" or "virtual".
RunIdentity identity_of_run(const Options& options, const std::string& mode);

/// What differs so that counts cannot be compared, each as a phrase: "the arguments differ: 'a' then, 'b' now". Empty:
/// the counts can be compared. The program's file is never in the list: to compare two builds is what a gate is for.
std::vector<std::string> obstacles(const RunIdentity& earlier, const RunIdentity& now);

/// What differs and may explain a difference of counts, but does not prevent the comparison.
std::vector<std::string> remarks(const RunIdentity& earlier, const RunIdentity& now);

}  // namespace anyperf::cli::stat
