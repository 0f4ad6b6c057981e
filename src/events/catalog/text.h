// text.h: names without regard to case (ASCII, whatever the locale), and numbers as the C library reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace anyperf::catalog {

constexpr char upper(char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

constexpr bool same_name(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    if (left == right) return true;  // what people type, nearly always
    for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i] != right[i] && upper(left[i]) != upper(right[i])) return false;
    return true;
}

/// FNV-1a over the name in capitals; tools/catalog/pack.py has the same.
constexpr std::uint32_t name_hash(std::string_view name) {
    std::uint32_t value = 0x811c9dc5;
    for (const char letter : name) value = (value ^ static_cast<std::uint8_t>(upper(letter))) * 0x01000193;
    return value;
}

/// One byte from a few letters and the length: events have up to 164 masks, of which a search compares hardly more than
/// the one that it finds. Of a name that is not empty; tools/catalog/pack.py has the same.
constexpr std::uint8_t mask_hash(std::string_view name) {
    const std::size_t length = name.size();
    const auto letter = [&](std::size_t at) {
        return static_cast<unsigned>(static_cast<std::uint8_t>(upper(name[at])));
    };
    return static_cast<std::uint8_t>(length * 7 + letter(0) + letter(length / 2) * 3 + letter(length - 1) * 5 +
                                     letter(length * 3 / 4) * 11 + letter(length / 4) * 23);
}

/// A number as strtoull(3) with base 0 reads it, all of `text`: leading blanks, sign (a minus wraps), 0x, 0; too big
/// becomes 2^64-1. Nothing where any of it is not a number.
std::optional<std::uint64_t> number(std::string_view text);

/// Hexadecimal digits, at least one; `overflow` is set where there are too many bits.
std::optional<std::uint64_t> hexadecimal(std::string_view digits, bool& overflow);

/// Whether `pattern` (with * and ?) matches all of `text`, without regard to case.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace anyperf::catalog
