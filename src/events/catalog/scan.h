// scan.h: the places in an event string where one of a few characters stands, looked for sixteen characters at a time:
// a loop over them is half of what it takes to encode a string. The vectors are the compiler's, for any CPU.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace anyperf::catalog {

template <char... kLetters>
class Scan {
  public:
    /// The first of the letters at or behind `from`; text.size(): none.
    static std::size_t next(std::string_view text, std::size_t from) {
        for (; from + kWidth <= text.size(); from += kWidth) {
            const Halves found = found_at(text.data() + from);
            if (found[0] != 0) return from + first_in(found[0]);
            if (found[1] != 0) return from + sizeof(std::uint64_t) + first_in(found[1]);
        }
        while (from < text.size() && !is_one(text[from])) ++from;
        return from;
    }

    /// Whether none of the letters is in `text`.
    static bool none(std::string_view text) {
        if (text.size() < kWidth) return next(text, 0) == text.size();
        std::size_t at = 0;
        for (; at + kWidth <= text.size(); at += kWidth)
            if (any(found_at(text.data() + at))) return false;
        return !any(found_at(text.data() + text.size() - kWidth));  // the last ones, some of them again
    }

  private:
    static constexpr std::size_t kWidth = 16;
    using Vector = char __attribute__((vector_size(kWidth)));
    using Halves = std::array<std::uint64_t, 2>;
    static_assert(std::endian::native == std::endian::little);

    static constexpr bool is_one(char letter) { return ((letter == kLetters) || ...); }
    static bool any(const Halves& found) { return (found[0] | found[1]) != 0; }
    static std::size_t first_in(std::uint64_t bytes) { return static_cast<std::size_t>(std::countr_zero(bytes)) / 8; }

    /// Bytes that are 0xff where a letter stands.
    static Halves found_at(const char* at) {
        Vector text;
        std::memcpy(&text, at, sizeof text);
        const auto found = ((text == kLetters) | ...);
        Halves halves;
        std::memcpy(&halves, &found, sizeof halves);
        return halves;
    }
};

/// What ends a word of an event string.
inline std::size_t next_separator(std::string_view text, std::size_t from) {
    return Scan<':', '.'>::next(text, from);
}

/// What no event string has; text.size(): it is nowhere.
inline std::size_t next_forbidden(std::string_view text) {
    using Forbidden = Scan<',', ' ', '\t', '\n'>;
    return Forbidden::none(text) ? text.size() : Forbidden::next(text, 0);
}

}  // namespace anyperf::catalog
