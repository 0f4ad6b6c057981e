#include "abi/attr_fields.h"

#include <cstring>

namespace anyperf::abi {

std::uint64_t value_of(const Attr& attr, const AttrField& field) {
    std::uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const char*>(&attr) + field.offset, field.bytes);
    return value;
}

}  // namespace anyperf::abi
