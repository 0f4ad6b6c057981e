// option_checks.h: checks of values that several verbs take, for CLI11's check(). CLI11's own Range lets NaN pass, and
// its conversion to an unsigned number takes "-1" for the largest one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace anyperf::cli {

/// Refuses a value that is not from 0 to 100 percent.
inline std::string check_percent(const std::string& text) {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return {};  // the conversion after the check refuses it
    return value >= 0 && value <= 100 ? std::string{} : text + " is not in the range 0 to 100 (percent)";
}

/// Refuses a negative number for an option that takes an unsigned one.
inline std::string check_not_negative(const std::string& text) {
    return text.starts_with('-') ? text + " is negative" : std::string{};
}

}  // namespace anyperf::cli
