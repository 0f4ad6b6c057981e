// constant.h: a number of the interface and what the kernel's header calls it; the row of most tables here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

struct Constant {
    std::uint64_t value;
    std::string_view name;
    bool operator==(const Constant&) const = default;
};

/// A bit of a mask: its number, the header's name, what it asks for.
struct Bit {
    unsigned bit;
    std::string_view name;
    std::string_view meaning;
    constexpr std::uint64_t mask() const { return 1ull << bit; }
};

/// The name of a value in one of these lists; empty where it has none.
constexpr std::string_view name_of(const auto& constants, std::uint64_t value) {
    const auto row = std::ranges::find(constants, value, &Constant::value);
    return row == constants.end() ? std::string_view{} : row->name;
}

/// The value of a name that must be in the list: another one doesn't compile.
consteval std::uint64_t value_of(const auto& constants, std::string_view name) {
    return std::ranges::find(constants, name, &Constant::name)->value;
}

/// The mask of a bit that must be in the list.
consteval std::uint64_t bit(const auto& bits, std::string_view name) {
    return std::ranges::find_if(bits, [&](const auto& row) { return row.name == name; })->mask();
}

/// Rows stand in the order of their numbers, and each number once.
consteval bool in_order(const auto& rows, auto member) {
    return std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, member) == rows.end();
}

}  // namespace anyperf::abi
