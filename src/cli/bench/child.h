// child.h: runs a program to its end with what it prints kept in memory: no file is left if anyperf is killed.
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
    std::string directory;           ///< to run in
    std::string input;               ///< path of standard input
    /// All that it gets; nothing: the environment of this process.
    std::optional<std::map<std::string, std::string>> environment;
};

struct ChildResult {
    int exit_status = 0;  ///< 128 + signal if a signal killed it
    std::string errors;   ///< the last kilobytes of standard error
    std::string results;  ///< what it wrote to descriptor kResults; at most kMostResults bytes
};

/// The descriptor that a child may write results to.
inline constexpr int kResults = 3;
inline constexpr std::size_t kMostResults = 64U << 20;

/// Runs a program and waits for its end. Its standard output is discarded. Error: the directory or the input cannot be
/// opened, or the program cannot be started.
Result<ChildResult> run_child(const ChildOptions& options);

}  // namespace anyperf::cli::bench
