// delimiter_index.h: finds the characters at which an event string is split.
//
// One pass looks at sixteen characters at a time and finds all delimiters. A separate loop over the characters for each
// delimiter took half of the time of encoding a string. The vectors are the compiler's vector extension, so this works
// on any CPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace anyperf::catalog {

inline constexpr std::size_t kPiece = 16;
using Piece = char __attribute__((vector_size(kPiece)));

/// The sixteen bytes at `at`, which may be unaligned.
inline Piece piece_at(const void* at) {
    Piece piece;
    std::memcpy(&piece, at, sizeof piece);
    return piece;
}

/// Bit i is set if byte i of a comparison result is true.
inline std::uint32_t bits_of(Piece holds) {
#ifdef __SSE2__
    return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(holds));
#else
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kPiece; ++i) bits |= (holds[i] != 0 ? 1U : 0U) << i;
    return bits;
#endif
}

/// The delimiters of a string. The first 64 characters have one bit each; characters after these, which few strings
/// have, are searched one by one. `text` must outlive it.
class DelimiterIndex {
  public:
    explicit DelimiterIndex(std::string_view text) : text_(text) {
        const std::size_t marked = std::min(text.size(), kMarked);
        std::size_t at = 0;
        for (; at + kPiece <= marked; at += kPiece) mark(piece_at(text.data() + at), at, 0);
        if (at != marked) mark_last(marked, at);
    }

    /// The first ':' or '.' at or after `from`; the size of the text if there is none.
    std::size_t separator(std::size_t from) const {
        return next(separators_, from, text_.size(), [](char letter) { return letter == ':' || letter == '.'; });
    }
    /// The first '=' in [from, end); `end` if there is none.
    std::size_t equals(std::size_t from, std::size_t end) const {
        return next(equals_, from, end, [](char letter) { return letter == '='; });
    }
    /// The position of the first character that is not allowed in an event string; the size of the text if all are
    /// allowed.
    std::size_t forbidden() const {
        return next(forbidden_, 0, text_.size(),
                    [](char letter) { return letter == ',' || letter == ' ' || letter == '\t' || letter == '\n'; });
    }
    /// The first "::"; the size of the text if there is none.
    std::size_t double_colon() const {
        if (const std::uint64_t pairs = colons_ & (colons_ >> 1); pairs != 0) return first_of(pairs);
        if (text_.size() <= kMarked) return text_.size();
        return std::min(text_.find("::", kMarked - 1), text_.size());
    }

  private:
    static constexpr std::size_t kMarked = 64;

    static std::size_t first_of(std::uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

    /// Marks the last characters [at, end), fewer than a piece. If there was a piece before, the last piece ends at
    /// `end` and overlaps that one.
    void mark_last(std::size_t end, std::size_t at) {
        if (at != 0) return mark(piece_at(text_.data() + end - kPiece), at, kPiece - (end - at));
        char few[kPiece] = {};
        std::memcpy(few, text_.data(), end);
        mark(piece_at(few), 0, 0);
    }

    /// Marks the delimiters of `piece`, except its first `skipped` characters. The next one is at `at` in the text.
    void mark(Piece piece, std::size_t at, std::size_t skipped) {
        const auto put = [&](std::uint64_t& bits, Piece holds) {
            bits |= static_cast<std::uint64_t>(bits_of(holds) >> skipped) << at;
        };
        const Piece colons = piece == ':';
        put(colons_, colons);
        put(separators_, colons | (piece == '.'));
        put(equals_, piece == '=');
        put(forbidden_, (piece == ',') | (piece == ' ') | (piece == '\t') | (piece == '\n'));
    }

    template <class Is>
    std::size_t next(std::uint64_t bits, std::size_t from, std::size_t end, Is is) const {
        if (from < kMarked) {
            if (const std::uint64_t left = bits >> from; left != 0) return std::min(from + first_of(left), end);
            from = kMarked;
        }
        while (from < end && !is(text_[from])) ++from;
        return std::min(from, end);
    }

    std::string_view text_;
    std::uint64_t colons_ = 0, separators_ = 0, equals_ = 0, forbidden_ = 0;
};

}  // namespace anyperf::catalog
