// kernel_number.h: numbers in filters and probe definitions, as the kernel's kstrtoul() and kstrtol() read them with
// base 0 (lib/kstrtox.c): decimal, hexadecimal after "0x", octal after "0". The whole text must be the number; nothing
// is the answer for any other text, and for a number that 64 bits cannot hold.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace anyperf::pmu {

/// Without a sign. `base` 0: the text's beginning says it.
inline std::optional<std::uint64_t> parse_digits(std::string_view text, int base = 0) {
    const bool hexadecimal = base == 0 && (text.starts_with("0x") || text.starts_with("0X"));
    if (hexadecimal) text.remove_prefix(2);
    if (base == 0) base = hexadecimal ? 16 : text.starts_with('0') ? 8 : 10;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// kstrtoul(): a "+" is allowed.
inline std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return parse_digits(text);
}

/// kstrtol(): a "+" or "-" is allowed, and 63 bits must hold the number.
inline std::optional<std::int64_t> parse_signed(std::string_view text) {
    const bool negative = text.starts_with('-');
    const auto value = negative ? parse_digits(text.substr(1)) : parse_unsigned(text);
    const std::uint64_t most = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
    if (!value || *value > most) return std::nullopt;
    return static_cast<std::int64_t>(negative ? 0 - *value : *value);
}

}  // namespace anyperf::pmu
