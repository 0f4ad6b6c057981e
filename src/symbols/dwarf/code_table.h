// code_table.h: the functions of a compilation unit and the calls inlined into them, as arrays of numbers. They come
// from DWARF (dwarf_units.h), or from a file that was written by an earlier report (code_cache.h); so nothing in them
// is trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace anyperf::symbols {

struct CodeRange {
    std::uint64_t begin = 0, end = 0;
    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

/// A line as DWARF has it: the number of a file in the unit's table.
struct FileLine {
    std::uint32_t file = 0, line = 0;
};

/// One range of an inlined call. A call with several ranges has as many entries.
struct InlinedCall {
    CodeRange range;
    std::uint32_t depth = 0;  ///< 1: inlined into the function itself
    std::uint32_t name = 0;   ///< where it begins in CodeTable::texts
    FileLine call, declared;
};

/// A function with code. Its inlined calls are `count` entries from `first` on.
struct CodeFunction {
    std::uint32_t name = 0;
    std::uint32_t first = 0, count = 0;
    FileLine declared;
};

/// A range of a function; a function split into hot and cold parts has several.
struct FunctionRange {
    CodeRange range;
    std::uint64_t function = 0;
};

/// A view of a unit's arrays. It lives as long as they do.
struct CodeTable {
    std::span<const FunctionRange> ranges;  ///< by begin
    std::span<const CodeFunction> functions;
    std::span<const InlinedCall> calls;
    std::string_view texts;  ///< each ends with a NUL

    /// What is active at an address, from the innermost inlined call to the outermost, and the function that has the
    /// code. Nothing if no function has it.
    struct Active {
        const CodeFunction* function = nullptr;
        std::vector<const InlinedCall*> calls{};
    };
    std::optional<Active> at(std::uint64_t address) const;

    /// Empty if `name` is not a place in the texts.
    std::string_view text(std::uint32_t name) const;
};

/// A range of a unit's code.
struct UnitRange {
    CodeRange range;
    std::uint64_t unit = 0;  ///< by the order of the units in the DWARF
};

}  // namespace anyperf::symbols
