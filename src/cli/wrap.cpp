// wrap.cpp: see wrap.h.
#include "cli/wrap.h"

#include <ranges>

namespace anyperf::cli {

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
    std::string result;
    std::size_t column = indent;
    for (const auto part : std::views::split(text, ' ')) {
        const std::string_view word{part.begin(), part.end()};
        if (column > indent && column + 1 + word.size() > width) {
            result += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            result += ' ';
            ++column;
        }
        result += word;
        column += word.size();
    }
    return result;
}

}  // namespace anyperf::cli
