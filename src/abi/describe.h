// describe.h: describes an attr field by field, as names and values for people to read (`anyperf encode`, messages of
// tests). The names are those of the kernel's header. Bits of a mask appear by name, without their common prefix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "abi/attr_fields.h"

namespace anyperf::abi {

/// A field of an attr, for example "sample_type", 0x10001, "IP|IDENTIFIER".
struct DescribedField {
    std::string_view name;  ///< of the union member that the attr uses
    std::uint64_t value = 0;
    bool is_signed = false;  ///< a negative 32-bit number (clockid): the printer sign-extends `value`
    bool hex = false;        ///< the printer writes `value` in hexadecimal
    std::string meaning;     ///< empty if the number needs no explanation, or if no table has it
};

/// The fields in the order of the structure. Each bit field of the flags word (`disabled`, `precise_ip`, …) is a row of
/// its own. Fields that are zero are left out unless `include_zero` is set, but type and config are always included.
/// Reserved bits are a row only if one is set.
std::vector<DescribedField> describe(const Attr& attr, bool include_zero);

}  // namespace anyperf::abi
