#include "events/syntax/parse_error.h"

#include <algorithm>

namespace anyperf::events {

namespace {

constexpr std::size_t kLongest = 60;    // of a quoted piece
constexpr std::size_t kLineWidth = 96;  // of the string that is shown
constexpr std::string_view kIndent = "\n    ";

/// One column for each byte, so that the mark is below its piece.
char shown(char c) {
    return c >= ' ' && c <= '~' ? c : '?';
}

std::string shown(std::string_view text) {
    std::string line{text};
    std::ranges::transform(line, line.begin(), [](char c) { return shown(c); });
    return line;
}

}  // namespace

std::string in_quotes(std::string_view text) {
    const bool cut = text.size() > kLongest;
    return "'" + shown(text.substr(0, kLongest)) + (cut ? "…'" : "'");
}

// A ParseError knows where it is because its text is a view of the string. A piece that is not in the string (a term of
// an alias in sysfs) is marked at the beginning. Of a long string only the part around the mark is shown.
Error to_error(const ParseError& error, std::string_view whole) {
    const bool inside =
        error.at.data() && error.at.data() >= whole.data() && error.at.data() <= whole.data() + whole.size();
    const std::size_t offset = inside ? static_cast<std::size_t>(error.at.data() - whole.data()) : 0;
    const std::size_t begin = offset > kLineWidth / 2 && whole.size() > kLineWidth ? offset - kLineWidth / 2 : 0;
    const std::string_view line = whole.substr(begin, kLineWidth);
    const std::size_t length = std::min(error.at.size(), line.size() - (offset - begin));
    const std::string mark = std::string(offset - begin, ' ') + '^' + std::string(length > 1 ? length - 1 : 0, '~');
    return Error{"cannot use the event string" + std::string{kIndent} + shown(line) + std::string{kIndent} + mark,
                 error.cause, error.fix};
}

}  // namespace anyperf::events
