// hexadecimal.h: numbers as hexadecimal digits, 16 at a time. A frame has two of them, and a recording some million
// frames.
#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace anyperf::cli {

inline constexpr std::size_t kHexadecimalDigits = 16;

/// How many of the 16 digits are zeros before the first that counts. 0 has one digit.
inline unsigned leading_zeros(std::uint64_t number) {
    return static_cast<unsigned>(std::countl_zero(number | 1)) / 4;
}

/// All 16 digits, the highest in the first byte.
inline __m128i digits_of(std::uint64_t number) {
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(__builtin_bswap64(number)));
    const __m128i high = _mm_and_si128(_mm_srli_epi64(bytes, 4), nibble), low = _mm_and_si128(bytes, nibble);
    const __m128i values = _mm_unpacklo_epi8(high, low);
    const __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(values, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '0' - 10));
    return _mm_add_epi8(_mm_add_epi8(values, _mm_set1_epi8('0')), letters);
}

/// Writes 16 columns with blanks before the number, as "%16lx".
inline void write_column(std::uint64_t number, char* to) {
    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i blank = _mm_cmpgt_epi8(_mm_set1_epi8(static_cast<char>(leading_zeros(number))), places);
    const __m128i text =
        _mm_or_si128(_mm_and_si128(blank, _mm_set1_epi8(' ')), _mm_andnot_si128(blank, digits_of(number)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), text);
}

/// Writes the number as "%lx", and returns its end. Up to 16 bytes are written whatever the number is.
inline char* write_number(std::uint64_t number, char* to) {
    const unsigned zeros = leading_zeros(number);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), digits_of(number << (zeros * 4)));
    return to + kHexadecimalDigits - zeros;
}

}  // namespace anyperf::cli
