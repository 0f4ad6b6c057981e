// text.h: a Python string (PyUnicodeObject) as UTF-8, in a buffer without allocation.
//
// Freestanding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "python/layout.h"
#include "python/memory.h"

namespace anyperf::python {

template <std::size_t kBytes>
struct Text {
    std::array<char, kBytes> bytes;  // not cleared: most of it is not used
    std::size_t size = 0;

    std::string_view view() const { return {bytes.data(), size}; }
};

/// Writes the string at `address` to `out`, up to `room` bytes. Returns how many; 0 if there is no readable string. A
/// string that does not fit is cut after a whole character.
std::size_t read_text(const Memory& memory, const Layout& layout, std::uint64_t address, char* out, std::size_t room);

template <std::size_t kBytes>
void read_text(const Memory& memory, const Layout& layout, std::uint64_t address, Text<kBytes>& out) {
    out.size = read_text(memory, layout, address, out.bytes.data(), kBytes);
}

}  // namespace anyperf::python
