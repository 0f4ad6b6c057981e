// text.h: a line of text, composed without allocation and written with one write(2). For messages and the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyperf::engine {

/// A line of at most 1 KiB; longer ones are cut.
class Line {
  public:
    Line& text(std::string_view piece);
    Line& quoted(std::string_view piece);  ///< in quotes; control characters as \xNN, so that a line remains one
    Line& decimal(std::int64_t value);
    Line& hex(std::uint64_t value);                            ///< 0x…
    Line& bytes(const std::uint8_t* data, std::size_t count);  ///< "48 8b 05"
    std::string_view view() const { return {buffer_, length_}; }

    /// Writes the line and a newline to a descriptor. Errors are ignored: there is nowhere to report them.
    void write(int fd);

  private:
    void put(char c) {
        if (length_ < sizeof buffer_ - 1) buffer_[length_++] = c;
    }

    char buffer_[1024];
    std::size_t length_ = 0;
};

/// Removes a decimal number from the start of the text. Returns false if there is none.
inline bool take_decimal(std::string_view& text, std::uint64_t& out) {
    const std::size_t before = text.size();
    for (out = 0; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
        out = out * 10 + static_cast<std::uint64_t>(text[0] - '0');
    return text.size() < before;
}

}  // namespace anyperf::engine
