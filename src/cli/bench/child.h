// child.h: runs a program to its end. Its standard error and its results go to memory files, so that no file is left if
// anyperf is killed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli::bench {

/// How to start a program.
struct ChildOptions {
    std::vector<std::string> words;  ///< the file to execute (not looked up in PATH) and its arguments
    std::string directory;           ///< where it runs
    std::string input;               ///< path of standard input
    /// All variables that it gets; no value: the environment of this process.
    std::optional<std::map<std::string, std::string>> environment;
    bool keeps_output = false;  ///< its standard output is part of the result
};

struct ChildResult {
    int exit_status = 0;  ///< 128 + signal if a signal killed it
    std::string errors;   ///< the end of its standard error: at most 4 KiB
    std::string output;   ///< the beginning of its standard output, if it is kept: at most kMostResults bytes
    std::string results;  ///< what it wrote to descriptor kResults; at most kMostResults bytes
};

/// The descriptor to which a child may write results.
inline constexpr int kResults = 3;
inline constexpr std::size_t kMostResults = 64U << 20;

/// Runs a program and waits for its end. Its standard output is discarded if it is not kept. Error: the directory or
/// the input cannot be opened, the program cannot be started, or no descriptor is left.
Result<ChildResult> run_child(const ChildOptions& options);

}  // namespace anyperf::cli::bench
