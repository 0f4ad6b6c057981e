#include "cli/output/wrap.h"

#include <algorithm>
#include <ranges>

namespace anyperf::cli {

namespace {

/// How many columns a terminal needs for UTF-8 text: one for each character. The bytes after a character's first are
/// 0x80 to 0xbf. Characters that take two columns, or none, are counted as one, too.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

}  // namespace

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
    std::string result;
    std::size_t column = indent;
    for (const auto part : std::views::split(text, ' ')) {
        const std::string_view word{part.begin(), part.end()};
        // The first word of a line is printed even if it is too long.
        if (column > indent && column + 1 + columns(word) > width) {
            result += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            result += ' ';
            ++column;
        }
        result += word;
        column += columns(word);
    }
    return result;
}

}  // namespace anyperf::cli
