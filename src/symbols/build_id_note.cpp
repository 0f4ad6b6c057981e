#include "symbols/build_id_note.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace anyperf::symbols {

namespace {

constexpr std::size_t kHeader = 12;  // sizes of the name and of the value, type
constexpr char kOwner[] = "GNU";     // with its NUL

std::uint64_t padded(std::uint64_t size) {
    return (size + 3) & ~std::uint64_t{3};
}

std::uint32_t word(std::span<const std::byte> bytes, std::size_t at, bool little_endian) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + (little_endian ? 3 - i : i)]);
    return value;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        for (const unsigned digit : {std::to_integer<unsigned>(byte) >> 4, std::to_integer<unsigned>(byte) & 15})
            text += "0123456789abcdef"[digit];
    return text;
}

}  // namespace

// The name and the value follow the header, each padded to 4 bytes (elf(5), "Notes").
std::string build_id_in_notes(std::span<const std::byte> notes, bool little_endian) {
    while (notes.size() >= kHeader) {
        const std::uint64_t name = word(notes, 0, little_endian);
        const std::uint64_t value = word(notes, 4, little_endian);
        const std::uint64_t start = kHeader + padded(name);
        if (start > notes.size() || value > notes.size() - start) break;
        if (word(notes, 8, little_endian) == NT_GNU_BUILD_ID && name == sizeof kOwner &&
            std::memcmp(notes.data() + kHeader, kOwner, name) == 0)
            return hexadecimal(notes.subspan(start, value));
        notes = notes.subspan(std::min<std::uint64_t>(start + padded(value), notes.size()));
    }
    return {};
}

}  // namespace anyperf::symbols
