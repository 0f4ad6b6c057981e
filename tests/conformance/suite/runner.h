// runner.h: runs cases, each in its own process and with a time limit, and returns their outcomes.
#pragma once

#include <string>
#include <vector>

#include "suite/case.h"

namespace conformance {

enum class Outcome { passed, failed, skipped };

struct Result {
    Outcome outcome = Outcome::failed;
    std::string text;  ///< the expected and the actual value of a failure, or the reason of a skip
};

/// The options of the command line.
struct Options {
    std::string filter = "*";  ///< a glob for AREA/CASE
    std::string json;          ///< file to write, or empty
    std::string has;           ///< needs, separated by commas: cases fail, instead of being skipped, if one is missing
    std::string differences;   ///< table of cases that are known to differ, or empty
    int timeout_seconds = 20;
    bool list = false;
    bool sysctls = false;  ///< cases may change /proc/sys/kernel
    bool quiet = false;    ///< don't print cases that pass
};

/// Runs one case in a forked process.
Result run_case(const Case& test, const Options& options);

/// Runs or lists the cases that match the filter; returns the exit status.
int run(const Options& options);

}  // namespace conformance
