// text.h: comparison and hashing of names without regard to case (ASCII, in any locale), and numbers as the C library
// reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace anyperf::catalog {

constexpr char upper(char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

/// The bytes at `at` as an integer.
template <class Word>
inline std::uint64_t letters_at(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Whether two names of equal size are the same, byte by byte. Names are short, and a call of memcmp(3) costs more than
/// the comparison.
inline bool same_letters(std::string_view left_name, std::string_view right_name) {
    const std::size_t size = left_name.size();
    const char* const left = left_name.data();
    const char* const right = right_name.data();
    using Word = std::uint64_t;
    constexpr std::size_t kStep = sizeof(Word);
    if (size < kStep) {
        for (std::size_t i = 0; i < size; ++i)
            if (left[i] != right[i]) return false;
        return true;
    }
    for (std::size_t at = 0; at + kStep <= size; at += kStep)
        if (letters_at<Word>(left + at) != letters_at<Word>(right + at)) return false;
    return letters_at<Word>(left + size - kStep) == letters_at<Word>(right + size - kStep);
}

/// Equal without regard to case.
inline bool same_name(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    if (same_letters(left, right)) return true;  // nearly every name is typed in the case of the catalog
    for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i] != right[i] && upper(left[i]) != upper(right[i])) return false;
    return true;
}

/// A hash of a name, without regard to case. It takes eight letters at a time and clears the bit that distinguishes
/// upper from lower case; the last eight overlap those before. It folds both halves of the product: the lower half
/// alone gives names that differ in their last letter ("zen1", "zen2"; "cha0", "cha1") the same slot. hashed() in
/// tools/catalog/pack.py must be the same function.
inline std::uint32_t name_hash(std::string_view name) {
    __extension__ using Product = unsigned __int128;
    constexpr std::size_t kStep = 8;
    constexpr std::uint64_t kFold = 0xdfdf'dfdf'dfdf'dfdf;
    constexpr std::uint64_t kMix = 0x9e37'79b9'7f4a'7c15;  // 2^64 over the golden ratio
    const std::size_t size = name.size();
    const char* const text = name.data();
    std::uint64_t value = size;
    const auto mix = [&value](std::uint64_t word) {
        const Product product = static_cast<Product>(value ^ (word & kFold)) * kMix;
        value = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    for (std::size_t at = 0; at + kStep <= size; at += kStep) mix(letters_at<std::uint64_t>(text + at));
    if (size >= kStep && size % kStep != 0) mix(letters_at<std::uint64_t>(text + size - kStep));
    if (size >= kStep || size == 0) return static_cast<std::uint32_t>(value);
    if (size >= kStep / 2)
        mix(letters_at<std::uint32_t>(text) | letters_at<std::uint32_t>(text + size - kStep / 2) << 32);
    else
        mix(letters_at<std::uint8_t>(text) | letters_at<std::uint8_t>(text + size / 2) << 8 |
            letters_at<std::uint8_t>(text + size - 1) << 16);
    return static_cast<std::uint32_t>(value);
}

/// A one-byte hash of a mask name, from a few letters and the length. Events of the catalog have up to 164 masks; with
/// it, a search compares few names besides the one it finds. `name` must not be empty. mask_hashed() in
/// tools/catalog/pack.py must be the same function.
constexpr std::uint8_t mask_hash(std::string_view name) {
    const std::size_t length = name.size();
    const auto letter = [&](std::size_t at) -> std::size_t { return static_cast<std::uint8_t>(upper(name[at])); };
    return static_cast<std::uint8_t>(length * 7 + letter(0) + letter(length / 2) * 3 + letter(length - 1) * 5 +
                                     letter(length * 3 / 4) * 11 + letter(length / 4) * 23);
}

/// A number as strtoull(3) with base 0 reads it: leading blanks, sign (a minus wraps), 0x, 0. A number that is too
/// large becomes 2^64-1. Nothing unless all of `text` is the number.
std::optional<std::uint64_t> number(std::string_view text);

/// Hexadecimal digits, at least one. Sets `overflow` if the number has more than 64 bits.
std::optional<std::uint64_t> hexadecimal(std::string_view digits, bool& overflow);

/// Whether `pattern` (with * and ?) matches all of `text`, without regard to case.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace anyperf::catalog
