// copied_text.h: the text of a file that the kernel makes, and beside it what programs of a deterministic run see.
#pragma once

#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/freestanding/text.h"

namespace anyperf::engine {

/// Takes the next line or word, which `end` ends, from `rest`.
inline std::string_view take(std::string_view& rest, char end) {
    const std::size_t length = std::min(rest.find(end), rest.size());
    const std::string_view piece = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    return piece;
}

/// The characters from `from` up to `until`. substr() could throw.
inline std::string_view piece_of(std::string_view text, std::size_t from, std::size_t until) {
    until = std::min(until, text.size());
    from = std::min(from, until);
    return {text.data() + from, until - from};
}

/// A text in reserved memory, and beside it what is made of it.
class CopiedText {
  public:
    CopiedText() : room_(static_cast<char*>(reserve_pages(2 * kRoom))) {}
    ~CopiedText() {
        if (room_ != nullptr) release_pages(room_, 2 * kRoom);
    }
    CopiedText(const CopiedText&) = delete;
    CopiedText& operator=(const CopiedText&) = delete;

    /// Reads the whole file. Returns its length or a negated errno.
    long read(std::uint64_t fd) {
        if (room_ == nullptr) return -ENOMEM;
        long got = 0;
        do {
            got = kernel_call(__NR_read, fd, address_of(room_ + length_), kRoom - length_);
            if (got > 0) length_ += static_cast<std::size_t>(got);
        } while (got > 0 && length_ < kRoom);
        return is_error(got) ? got : static_cast<long>(length_);
    }
    std::string_view original() const { return {room_, length_}; }
    std::string_view made() const { return {room_ + kRoom, made_}; }

    CopiedText& text(std::string_view piece) {
        put(piece);
        return *this;
    }
    void put(std::string_view text) {
        const std::size_t bytes = std::min(text.size(), kRoom - made_);
        __builtin_memcpy(room_ + kRoom + made_, text.data(), bytes);
        made_ += bytes;
    }
    void put(std::uint64_t value) {
        Line digits;
        put(digits.decimal(static_cast<std::int64_t>(value)).view());
    }

  private:
    static constexpr std::size_t kRoom = std::size_t{4} << 20;  // only as much is touched as the file is long
    char* room_;
    std::size_t length_ = 0;
    std::size_t made_ = 0;
};

}  // namespace anyperf::engine
