// share_text.cpp: printf(3) and fmt make all digits of a binary fraction, by numbers of a thousand bits, to round the
// last one that is shown. For two digits the rest of one product is enough.
#include "cli/output/share_text.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace anyperf::cli {

void append_share(double percent, std::size_t width, std::string& text) {
    // The product is rounded to a double. `error` is what it is short of, which decides if it is half way.
    const double product = percent * 100, error = std::fma(percent, 100.0, -product);
    auto hundredths = static_cast<std::uint64_t>(product);
    const double rest = product - static_cast<double>(hundredths) - 0.5;
    const bool is_above = rest > 0 || (rest == 0 && error > 0), is_between = rest == 0 && error == 0;
    hundredths += is_above || (is_between && hundredths % 2 != 0) ? 1 : 0;
    std::array<char, 24> digits;
    char* at = digits.data() + digits.size();
    for (std::size_t i = 0; i < 3 || hundredths != 0; ++i, hundredths /= 10) {
        if (i == 2) *--at = '.';
        *--at = static_cast<char>('0' + hundredths % 10);
    }
    const auto size = static_cast<std::size_t>(digits.data() + digits.size() - at);
    if (size < width) text.append(width - size, ' ');
    text.append(at, size);
}

}  // namespace anyperf::cli
