// cfi_cursor.h: reads numbers of DWARF from unchecked bytes. A read past the end gives 0 and marks the cursor as
// failed; all reads after it give 0, too. A decoder checks once, at its end. Numbers are little-endian: this machine
// is, and other files are refused (UnwindTable).
#pragma once

#include <cstdint>
#include <cstring>

#include "symbols/elf_image.h"

namespace anyperf::unwind {

/// A place in `bytes`, which are not copied. Precondition of the constructor: `at` is not beyond the end.
class CfiCursor {
  public:
    explicit CfiCursor(symbols::Bytes bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

    /// The next number; 0 if it does not fit.
    template <class Number>
    Number read() {
        Number number = 0;
        if (const symbols::Bytes taken = take(sizeof(Number)); !taken.empty())
            std::memcpy(&number, taken.data(), sizeof(Number));
        return number;
    }

    /// LEB128 (DWARF 5, 7.6). Bits above 64 are lost.
    std::uint64_t unsigned_leb() { return leb(false); }
    std::int64_t signed_leb() { return static_cast<std::int64_t>(leb(true)); }

    /// The next bytes; empty if there are fewer.
    symbols::Bytes take(std::uint64_t size) {
        if (size > bytes_.size() - at_ || failed_) {
            failed_ = true;
            at_ = bytes_.size();
            return {};
        }
        const symbols::Bytes taken = bytes_.subspan(at_, size);
        at_ += size;
        return taken;
    }

    std::size_t position() const { return at_; }
    bool at_end() const { return at_ >= bytes_.size(); }
    bool failed() const { return failed_; }

  private:
    // Ends at the end of the bytes at the latest: the 0 that a failed read gives has no continuation bit. A signed
    // number is extended from bit 6 of its last byte.
    std::uint64_t leb(bool sign) {
        std::uint64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0;
        do {
            byte = read<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
            shift += 7;
        } while ((byte & 0x80) != 0);
        if (sign && shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
        return value;
    }

    symbols::Bytes bytes_;
    std::size_t at_;
    bool failed_ = false;
};

}  // namespace anyperf::unwind
