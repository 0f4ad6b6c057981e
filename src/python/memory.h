// memory.h: the memory of a process that may run Python. It is hostile: any address in it may be invalid, and another
// thread may change it at any moment. So every read is checked, every walk is bounded, and what is read is used only as
// data.
//
// Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace anyperf::python {

struct Memory {
    void* context = nullptr;
    /// Copies `bytes` bytes from the address `from`. False if one of them cannot be read.
    bool (*copy)(void* context, void* to, std::uint64_t from, std::size_t bytes) = nullptr;

    bool read(void* to, std::uint64_t from, std::size_t bytes) const { return copy(context, to, from, bytes); }

    /// The value at an address; nothing if it cannot be read.
    template <class T>
    std::optional<T> value(std::uint64_t address) const {
        T value;
        if (!read(&value, address, sizeof value)) return std::nullopt;
        return value;
    }

    /// The pointer or other word at an address; 0 if it cannot be read.
    std::uint64_t word(std::uint64_t address) const { return value<std::uint64_t>(address).value_or(0); }
};

}  // namespace anyperf::python
