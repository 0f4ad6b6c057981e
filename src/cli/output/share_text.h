// share_text.h: shares as text. A report has one in each row.
#pragma once

#include <cstddef>
#include <string>

namespace anyperf::cli {

/// Appends what printf(3) makes of "%W.2f" with this width: the nearest hundredth, of two that are equally near the
/// even one. `percent` is not negative and below 10^12.
void append_share(double percent, std::size_t width, std::string& text);

}  // namespace anyperf::cli
