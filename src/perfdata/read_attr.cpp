// read_attr.cpp: an attr has neither one size nor one byte order. Each version of the kernel may append fields, so a
// file has the attr of the perf that recorded it: shorter or longer than the structure here. A file of a machine with
// the other byte order needs each number swapped, and the word of one-bit fields treated in its own way.
//
// The table of abi/attr_fields.h has the place and the width of each field, so a new field of the kernel needs no line
// here.
#include "perfdata/read_attr.h"

#include <array>

#include "abi/attr_fields.h"

namespace anyperf::perfdata {

namespace {

/// The word `flags` is made of bit fields of C. A little-endian compiler allocates them from the lowest bit on, a
/// big-endian one from the highest. So in a file of the other byte order the bits of each byte are reversed, while the
/// bytes stay in their order. The C standard promises none of this; perf does the same (swap_bitfield() in
/// tools/perf/util/session.c).
void reverse_bits(std::byte* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        unsigned reversed_bits = 0;
        for (unsigned bit = 0; bit < 8; ++bit)
            reversed_bits |= (std::to_integer<unsigned>(bytes[i]) >> bit & 1u) << (7 - bit);
        bytes[i] = static_cast<std::byte>(reversed_bits);
    }
}

}  // namespace

// Field by field of the table, so that a number is swapped by its own width. A field that is not whole in the file ends
// the attr: published sizes end between two fields.
abi::Attr read_attr(Bytes bytes, bool foreign) {
    abi::Attr attr;
    auto* const to = reinterpret_cast<std::byte*>(&attr);
    for (const abi::AttrField& field : abi::kAttrFields) {
        if (field.offset + field.bytes > bytes.size()) break;
        for (std::size_t i = 0; i < field.bytes; ++i) {
            const bool swap = foreign && field.kind != abi::FieldKind::flags;
            to[field.offset + i] = bytes[field.offset + (swap ? field.bytes - 1 - i : i)];
        }
        if (foreign && field.kind == abi::FieldKind::flags) reverse_bits(to + field.offset, field.bytes);
    }
    return attr;
}

}  // namespace anyperf::perfdata
