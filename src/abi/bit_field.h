// bit_field.h: a field of one or more bits inside a 64-bit word, and the names of its values. data_source.h and
// branch_entry.h describe with it the words of samples that the kernel declares as C bit fields.
#pragma once

#include <span>

#include "abi/constant.h"

namespace anyperf::abi {

struct BitField {
    unsigned bit;  ///< its lowest bit
    unsigned width;
    std::string_view name;             ///< of the member in the kernel's header
    std::span<const Constant> values;  ///< empty: the field is a plain number
    bool is_mask;                      ///< the values are bits, and several may be set

    /// The field's value in `word`, shifted down to bit 0.
    constexpr std::uint64_t of(std::uint64_t word) const { return word >> bit & ((1ull << width) - 1); }
};

/// Whether each field begins at the bit after the previous one, from bit 0.
consteval bool are_contiguous(const auto& fields) {
    unsigned next = 0;
    for (const BitField& field : fields) {
        if (field.bit != next) return false;
        next += field.width;
    }
    return true;
}

}  // namespace anyperf::abi
