// bit_field.h: a field of several bits inside a 64-bit word, and the names of its values.
#pragma once

#include <span>

#include "abi/constant.h"

namespace anyperf::abi {

struct BitField {
    unsigned bit;
    unsigned width;
    std::string_view name;  ///< the header's member
    std::span<const Constant> values;
    bool is_mask;  ///< values are bits that may stand together

    constexpr std::uint64_t of(std::uint64_t word) const { return word >> bit & ((1ull << width) - 1); }
};

/// Rows stand end to end from bit 0.
consteval bool end_to_end(const auto& fields) {
    unsigned next = 0;
    for (const BitField& field : fields) {
        if (field.bit != next) return false;
        next += field.width;
    }
    return true;
}

}  // namespace anyperf::abi
