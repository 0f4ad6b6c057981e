// wrap.h: breaks text into lines for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace anyperf::cli {

/// Breaks `text` at blanks into lines of at most `width` columns. Every line but the first begins with `indent` blanks;
/// the width of the first is counted from column `indent`, since the caller usually prints a label before it. A word
/// that is longer than a line stays whole. No newline at the end. A character of UTF-8 is taken for one column.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace anyperf::cli
