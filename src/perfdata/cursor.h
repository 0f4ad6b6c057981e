// cursor.h: reads numbers and texts from bytes of either byte order, never past the end. After the first read that does
// not fit, all reads give 0 and ok() is false: a decoder reads all its fields and checks ok() once, at its end.
//
// A decoder that checked each read would have as many error branches as fields, most of them never tested. With a
// sticky failure one check is enough, but two things follow. A loop must be bounded by count() or by left(), never by a
// number from the file alone. And a value read before the check may be 0 although the format forbids that.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace anyperf::perfdata {

using Bytes = std::span<const std::byte>;

/// A number at `at`, which need not be aligned.
template <class Number>
Number load(const std::byte* at) {
    Number value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// The bytes of `value` in reverse order.
template <class Number>
constexpr Number reversed(Number value) {
    if constexpr (sizeof(Number) == 1)
        return value;
    else
        return std::byteswap(value);
}

/// A place in `bytes`, which must live as long as the cursor and the views that it gives.
class Cursor {
  public:
    /// `foreign`: numbers are of the other byte order than this machine's. Texts are the same in both.
    explicit Cursor(Bytes bytes, bool foreign = false) : bytes_(bytes), foreign_(foreign) {}

    /// The next number, which need not be aligned; 0 if it does not fit.
    template <class Number>
    Number take() {
        if (!fits(sizeof(Number))) return 0;
        const Number value = load<Number>(bytes_.data() + at_);
        at_ += sizeof(Number);
        return foreign_ ? reversed(value) : value;
    }
    std::uint8_t u8() { return take<std::uint8_t>(); }
    std::uint16_t u16() { return take<std::uint16_t>(); }
    std::uint32_t u32() { return take<std::uint32_t>(); }
    std::uint64_t u64() { return take<std::uint64_t>(); }

    /// A view of the next `size` bytes; empty if they do not fit. `size` may be any number from a file: it is compared
    /// with what is left, and no sum with it can overflow.
    Bytes bytes(std::uint64_t size) {
        if (!fits(size)) return {};
        const Bytes found = bytes_.subspan(at_, size);
        at_ += size;
        return found;
    }
    void skip(std::uint64_t size) { bytes(size); }

    /// A field of `size` bytes that holds a text and zeros.
    std::string_view text(std::uint64_t size) {
        const Bytes field = bytes(size);
        const auto* begin = reinterpret_cast<const char*>(field.data());
        return {begin, field.empty() ? 0 : strnlen(begin, field.size())};
    }
    /// The text up to a zero byte, which is skipped, or up to the end.
    std::string_view text() {
        const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
        const std::size_t length = left() == 0 ? 0 : strnlen(begin, left());
        at_ += length < left() ? length + 1 : length;
        return {begin, length};
    }
    /// Checks a list's count: returns `entries` if so many entries of at least `least` bytes fit into what is left.
    /// Else fails and returns 0. This bounds a loop and an allocation by the size of the file.
    std::uint64_t count(std::uint64_t entries, std::size_t least) {
        if (entries <= left() / least) return entries;
        fail();
        return 0;
    }

    std::size_t left() const { return bytes_.size() - at_; }
    std::size_t position() const { return at_; }
    /// Whether all reads so far fitted and fail() was not called.
    bool ok() const { return ok_; }
    /// For a decoder that finds a number impossible. All later reads fail, too.
    void fail() {
        ok_ = false;
        at_ = bytes_.size();
    }

  private:
    bool fits(std::uint64_t size) {
        if (size <= left()) return true;
        fail();
        return false;
    }

    Bytes bytes_;
    std::size_t at_ = 0;
    bool foreign_;
    bool ok_ = true;
};

}  // namespace anyperf::perfdata
