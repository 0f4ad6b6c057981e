// recorded_names.h: the names of a file's code that a recording has itself, as those of Android's simpleperf do: the
// machine that reads it has no file of the phone. Such a recording has the symbols that samples were in, not all.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/symbol_table.h"

namespace anyperf::symbols {

struct RecordedNames {
    /// What the addresses of the symbols are.
    enum class Addresses : std::uint8_t {
        process,      ///< those in the process or the kernel
        file_offset,  ///< offsets in the file
        elf,          ///< as the linker gave them
    };

    SymbolTable table;
    Addresses addresses = Addresses::process;
    std::uint64_t lowest = 0;             ///< with `elf`: the lowest address of code, and what is there: its offset in
    std::optional<std::uint64_t> offset;  ///< the file. Unknown: code begins where the first map of the file does

    /// The address in the table. `first_offset` is the lowest offset of the file that was mapped as code.
    std::uint64_t symbol_address(std::uint64_t address, std::uint64_t file_offset, std::uint64_t first_offset) const {
        if (addresses == Addresses::process) return address;
        if (addresses == Addresses::file_offset) return file_offset;
        return file_offset - offset.value_or(first_offset) + lowest;
    }
};

}  // namespace anyperf::symbols
