// constant.h: the rows of this folder's tables, and lookups in them. A row is a number of the perf_event interface with
// its name in the kernel's header. Lookups of a name run at compile time, so a misspelt name does not compile.
//
// The tables replace <linux/perf_event.h>: anyperf must also build where the system's headers are older than the
// kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

/// A value and its name.
struct Constant {
    std::uint64_t value;
    std::string_view name;
    bool operator==(const Constant&) const = default;
};

/// A bit of a mask: its number, its name in the header, and its effect.
struct Bit {
    unsigned bit;
    std::string_view name;
    std::string_view meaning;
    constexpr std::uint64_t mask() const { return 1ull << bit; }
};

/// The name of `value` in a table of constants; empty if the table does not have it.
constexpr std::string_view name_of(const auto& constants, std::uint64_t value) {
    const auto row = std::ranges::find(constants, value, &Constant::value);
    return row == constants.end() ? std::string_view{} : row->name;
}

/// The value of a name in a table of constants. A name that is not in the table does not compile.
consteval std::uint64_t value_of(const auto& constants, std::string_view name) {
    return std::ranges::find(constants, name, &Constant::name)->value;
}

/// The mask of the bit with this name. A name that is not in the table does not compile.
consteval std::uint64_t bit(const auto& bits, std::string_view name) {
    return std::ranges::find_if(bits, [&](const auto& row) { return row.name == name; })->mask();
}

/// Whether the rows are sorted by this member without duplicates.
consteval bool is_ascending(const auto& rows, auto member) {
    return std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, member) == rows.end();
}

}  // namespace anyperf::abi
