// describe.h: perf_event_attr in words, field by field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "abi/attr_fields.h"

namespace anyperf::abi {

/// A field as people read it: "sample_type", "0x10001", "IP|IDENTIFIER".
struct DescribedField {
    std::string_view name;
    std::uint64_t value = 0;
    bool is_signed = false;
    bool hex = false;     ///< reads better in hexadecimal
    std::string meaning;  ///< empty where the number says it all
};

/// In the order of the structure; each of the one-bit fields is a row of its own. Without `all` only those that are not
/// zero, and type and config always.
std::vector<DescribedField> describe(const Attr& attr, bool all);

}  // namespace anyperf::abi
