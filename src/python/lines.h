// lines.h: which source line an instruction of a code object belongs to.
//
// Freestanding.
#pragma once

#include <cstdint>

#include "python/layout.h"
#include "python/memory.h"

namespace anyperf::python {

/// The line of the instruction at `offset` bytes into the code; `first` if the table (a bytes object at `table`) has
/// none for it. `offset` may be negative: the code has not begun yet. An instruction that has no line of its own has
/// that of the one before it.
std::int64_t line_at(const Memory& memory, LineTable kind, std::uint64_t table, std::int64_t offset,
                     std::int64_t first);

}  // namespace anyperf::python
