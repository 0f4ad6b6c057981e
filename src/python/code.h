// code.h: what a code object (PyCodeObject) says of its function.
//
// Freestanding.
#pragma once

#include <cstdint>

#include "python/layout.h"
#include "python/memory.h"
#include "python/text.h"

namespace anyperf::python {

inline constexpr std::size_t kLongestName = 256;
inline constexpr std::size_t kLongestFile = 1024;

struct Code {
    Text<kLongestName> name;  ///< qualified, as `Class.method`; up to Python 3.10 the plain name
    Text<kLongestFile> file;  ///< as the compiler was given it: may be relative, or a name as `<string>`
    std::int32_t first_line = 0;
    std::uint64_t lines = 0;  ///< address of the table of lines
};

/// Reads the code object at `address`. False if there is none: its type is not the type "code".
bool read_code(const Memory& memory, const Layout& layout, std::uint64_t address, Code& out);

}  // namespace anyperf::python
