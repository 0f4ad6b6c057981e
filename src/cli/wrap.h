// wrap.h: text in columns.
#pragma once

#include <string>
#include <string_view>

namespace anyperf::cli {

/// `text` broken at blanks into lines of at most `width` columns, each but the first behind `indent` blanks; a word
/// longer than that stays whole. No newline at the end.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace anyperf::cli
