// runtime.h: finds the Python interpreter of a process: an executable or library that exports _PyRuntime.
//
// Freestanding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "python/layout.h"
#include "python/memory.h"

namespace anyperf::python {

/// The interpreter of a process.
struct Runtime {
    Layout layout;
    std::uint64_t state = 0;  ///< address of _PyRuntime
    /// The code of _PyEval_EvalFrameDefault(), which runs the instructions of Python functions.
    std::uint64_t eval_start = 0;
    std::uint64_t eval_end = 0;

    bool is_eval(std::uint64_t address) const { return address >= eval_start && address < eval_end; }
};

/// A symbol of an ELF image in memory.
struct ImageSymbol {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

/// The defined dynamic symbol of that name. `start`: where the beginning of the file is mapped.
std::optional<ImageSymbol> find_image_symbol(const Memory& memory, std::uint64_t start, std::string_view name);

/// The interpreter in the image; nothing if there is none, or if its version is not known (layout.h).
std::optional<Runtime> find_runtime(const Memory& memory, std::uint64_t start);

}  // namespace anyperf::python
