#include "abi/attr_sizes.h"

#include <algorithm>

namespace anyperf::abi {

std::uint32_t published_size(std::uint32_t bytes) {
    const auto row = std::ranges::lower_bound(kAttrSizes, bytes, {}, &AttrSize::bytes);
    return row == kAttrSizes.end() ? kAttrSizes.back().bytes : row->bytes;
}

}  // namespace anyperf::abi
