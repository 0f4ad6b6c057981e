// runner.h: runs cases, each in a process of its own with a limit of time, and keeps what came of it.
#pragma once

#include <string>
#include <vector>

#include "suite/case.h"

namespace conformance {

enum class Outcome { passed, failed, skipped };

struct Result {
    Outcome outcome = Outcome::failed;
    std::string text;  ///< what was expected and seen; the reason to skip
};

/// What a run was asked for.
struct Options {
    std::string filter = "*";  ///< of AREA/CASE
    std::string json;          ///< file to write, or empty
    std::string has;           ///< needs that must be there, separated by commas: to lack one of them is a failure
    std::string differences;   ///< table of cases that are known to differ, or empty
    int timeout_seconds = 20;
    bool list = false;
    bool sysctls = false;  ///< may change /proc/sys/kernel
    bool quiet = false;    ///< no lines for cases that pass
};

/// Runs one case in a forked process.
Result run_case(const Case& one, const Options& options);

/// Runs or lists what the filter selects; the exit status.
int run(const Options& options);

}  // namespace conformance
