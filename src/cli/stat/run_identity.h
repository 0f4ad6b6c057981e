// run_identity.h: what made the counts of a run what they are, besides the program: the command line, the environment,
// the CPU that programs saw, what counted. `stat --json` has it, so that a gate can refuse to compare two runs that
// differ in it, and say in what.
#pragma once

#include <string>
#include <vector>

#include "cli/stat/options.h"

namespace anyperf::cli::stat {

/// The texts are compared for equality only. An empty one is unknown, and equal to every other.
struct RunIdentity {
    std::vector<std::string> command;
    std::string version;      ///< of anyperf
    std::string mode;         ///< what counted: "kernel" or "virtual"
    std::string cpu;          ///< the CPU that programs saw, in the words of /proc/cpuinfo
    std::string settings;     ///< of the presented machine: --cpu-model, --machine, --counters, --deterministic, --seed
    std::string environment;  ///< hash of all variables but `_`, which shells set to their own command
    std::string program;      ///< the build of the program's file
    bool repeats = false;     ///< the run was deterministic: its environment is part of what it counts
};

/// The identity of a run with these options, of the command that they name.
RunIdentity identity_of_run(const Options& options, const std::string& mode);

/// What differs so that counts cannot be compared, each as a phrase: "the arguments differ: 'a' then, 'b' now". Empty:
/// nothing. The program's file is not among them: comparing two builds is what a gate is for.
std::vector<std::string> obstacles(const RunIdentity& earlier, const RunIdentity& now);

/// What differs and may explain a difference of counts, but does not forbid to compare them.
std::vector<std::string> remarks(const RunIdentity& earlier, const RunIdentity& now);

}  // namespace anyperf::cli::stat
