// option_checks.h: checks of values that several verbs take, for CLI11's check() and transform(). CLI11's own Range
// lets NaN pass, and takes an empty text for 0 and 010 for 8. Its conversion takes a number that is too large for the
// largest one.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace anyperf::cli {

/// Refuses a value that is not from 0 to 100 percent.
inline std::string check_percent(const std::string& text) {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return {};  // the conversion after the check refuses it
    return value >= 0 && value <= 100 ? std::string{} : text + " is not in the range 0 to 100 (percent)";
}

/// A whole number: decimal, or hexadecimal after 0x. None: the text is something else, or the type cannot hold it.
template <std::integral Number>
std::optional<Number> whole_number_in(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    if (hexadecimal && text.starts_with('-')) return std::nullopt;
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Refuses what is not a whole number from `least` to `most`. For transform(): the conversion that follows gets the
/// number in decimal.
template <std::integral Number>
CLI::Validator whole_number_from(Number least, Number most) {
    const auto check = [least, most](std::string& text) -> std::string {
        const auto value = whole_number_in<Number>(text);
        if (!value || *value < least || *value > most)
            return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
        text = fmt::format("{}", *value);
        return {};
    };
    return CLI::Validator{check, fmt::format("{} in [{} - {}]", CLI::detail::type_name<Number>(), least, most)};
}

}  // namespace anyperf::cli
