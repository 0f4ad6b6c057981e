// text.h: characters and numbers of event strings. ASCII only, independent of the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace anyperf::events {

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Equal without regard to case.
constexpr bool same_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
    return true;
}

inline std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](char c) { return lower(c); });
    return result;
}

/// A number of that base without a prefix. Nothing if any character is not a digit, or if it does not fit into 64 bits.
inline std::optional<std::uint64_t> digits(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A decimal number, or a hexadecimal one after 0x. Nothing if it is not a number or does not fit into 64 bits.
inline std::optional<std::uint64_t> number(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) return digits(text.substr(2), 16);
    return digits(text, 10);
}

}  // namespace anyperf::events
