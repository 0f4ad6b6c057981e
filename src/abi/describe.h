// describe.h: an attr as names and values, field by field, for people to read (`anyperf encode`, messages of tests).
// Names are those of the kernel's header; bits appear by name without their common prefix.
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
    bool hex = false;        ///< to be printed in hexadecimal
    std::string meaning;     ///< empty if the number needs no explanation
};

/// The fields in the order of the structure; each one-bit field is a row of its own. Fields that are zero are left out
/// unless `include_zero` is set; type and config are always included.
std::vector<DescribedField> describe(const Attr& attr, bool include_zero);

}  // namespace anyperf::abi
