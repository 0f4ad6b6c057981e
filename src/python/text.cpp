// text.cpp: PEP 393. A string has one, two or four bytes for each character, as its widest character needs. Names of
// code are always "compact": the characters follow the header.
#include "python/text.h"

#include <algorithm>
#include <cstring>

namespace anyperf::python {

namespace {

constexpr std::size_t kChunk = 64;  ///< characters that are read at once

/// The bits of PyASCIIObject::state, after two of `interned`.
struct State {
    std::uint32_t bits;

    std::size_t width() const { return bits >> 2 & 7; }  // kind: 1, 2 or 4
    bool is_compact() const { return (bits >> 5 & 1) != 0; }
    bool is_ascii() const { return (bits >> 6 & 1) != 0; }
};

/// UTF-8 of a character. Returns the number of bytes. A character that cannot be encoded becomes '?'.
std::size_t encode(std::uint32_t character, std::array<char, 4>& out) {
    const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x80) return out = {static_cast<char>(character)}, 1;
    if (character < 0x800) return out = {static_cast<char>(0xc0 | character >> 6), tail(0)}, 2;
    if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff) return out = {'?'}, 1;
    if (character < 0x10000) return out = {static_cast<char>(0xe0 | character >> 12), tail(6), tail(0)}, 3;
    return out = {static_cast<char>(0xf0 | character >> 18), tail(12), tail(6), tail(0)}, 4;
}

std::uint32_t character_at(const char* bytes, std::size_t width) {
    std::uint32_t character = 0;
    std::memcpy(&character, bytes, width);
    return character;
}

/// Encodes `count` characters of that width. Returns the number of bytes; fewer characters if there is no room.
std::size_t encode_wide(const Memory& memory, std::uint64_t from, std::uint64_t count, std::size_t width, char* out,
                        std::size_t room) {
    std::array<char, kChunk * sizeof(std::uint32_t)> chunk;
    std::size_t size = 0;
    for (std::uint64_t done = 0; done < count; done += kChunk) {
        const std::size_t now = std::min<std::uint64_t>(count - done, kChunk);
        if (!memory.read(chunk.data(), from + done * width, now * width)) break;
        for (std::size_t i = 0; i < now; ++i) {
            std::array<char, 4> encoded;
            const std::size_t bytes = encode(character_at(chunk.data() + i * width, width), encoded);
            if (bytes > room - size) return size;
            std::memcpy(out + size, encoded.data(), bytes);
            size += bytes;
        }
    }
    return size;
}

}  // namespace

std::size_t read_text(const Memory& memory, const Layout& layout, std::uint64_t address, char* out, std::size_t room) {
    constexpr std::uint64_t kLongest = 1 << 20;  ///< of a name; more is not a string
    const auto length = memory.value<std::uint64_t>(address + kObjectSize);
    const auto bits = memory.value<std::uint32_t>(address + kTextState);
    if (!length || !bits || *length > kLongest) return 0;
    const State state{*bits};
    if (!state.is_compact()) return 0;
    if (state.is_ascii()) {
        const std::size_t size = std::min<std::uint64_t>(*length, room);
        return memory.read(out, address + layout.ascii_bytes, size) ? size : 0;
    }
    if (state.width() != 1 && state.width() != 2 && state.width() != 4) return 0;
    return encode_wide(memory, address + layout.compact_bytes, *length, state.width(), out, room);
}

}  // namespace anyperf::python
