#include "events/catalog/text.h"

#include <limits>

namespace anyperf::catalog {

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

constexpr bool is_blank(char letter) {
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

constexpr unsigned digit_of(char letter) {
    if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
    const char capital = upper(letter);
    return capital >= 'A' && capital <= 'F' ? static_cast<unsigned>(capital - 'A') + 10 : 99;
}

/// Digits of `base`, at least one. A number that is too large becomes the largest, and `overflow` is set.
std::optional<std::uint64_t> digits(std::string_view text, unsigned base, bool& overflow) {
    if (text.empty()) return std::nullopt;
    std::uint64_t value = 0;
    overflow = false;
    for (const char letter : text) {
        const unsigned digit = digit_of(letter);
        if (digit >= base) return std::nullopt;
        overflow = overflow || value > (kMax - digit) / base;
        value = value * base + digit;
    }
    return overflow ? kMax : value;
}

}  // namespace

// As strtoull(3) with base 0, which libpfm4 uses: leading blanks, a sign, 0x for hexadecimal and 0 for octal. A number
// that is too large becomes the largest, also with a minus.
std::optional<std::uint64_t> number(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    unsigned base = 10;
    if (text.size() > 2 && text[0] == '0' && upper(text[1]) == 'X') {
        base = 16;
        text.remove_prefix(2);
    } else if (text.starts_with('0')) {
        base = 8;
    }
    bool overflow = false;
    const auto value = digits(text, base, overflow);
    if (!value || overflow || !negative) return value;
    return 0 - *value;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text, bool& overflow) {
    return digits(text, 16, overflow);
}

bool glob_matches(std::string_view pattern, std::string_view text) {
    // On a mismatch, go back to the last star and let it take one more character. Earlier stars need no retry.
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    std::size_t p = 0;
    std::size_t t = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || upper(pattern[p]) == upper(text[t]))) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace anyperf::catalog
