// difference.h: where two logs of schedules (`anyperf run --log-schedule`) part.
#pragma once

#include <istream>
#include <optional>
#include <string>

#include "anyperf/error.h"

namespace anyperf::cli::schedules {

/// A log, and the name by which texts call it.
struct Log {
    std::istream& text;
    std::string name;
};

/// The first line in which two logs differ. A text is empty if its log ends there.
struct Difference {
    std::size_t line = 0;  ///< from 1 on
    std::string first, second;
    std::string thread;  ///< that wrote the line; in the first log, if both have one
    std::string before;  ///< the last line of that thread which both logs have; empty: there is none
    std::size_t before_line = 0;
};

/// The first difference; none if the logs are equal. Error: up to there, one of them has a line that no log of a
/// schedule has, or has no line at all.
Result<std::optional<Difference>> find_difference(const Log& first, const Log& second);

/// The difference as text of several lines, for people.
std::string describe(const Difference& difference, const std::string& first_name, const std::string& second_name);

}  // namespace anyperf::cli::schedules
