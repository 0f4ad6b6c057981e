// disassembly.h: machine code as text, one entry for each instruction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "symbols/elf_image.h"

namespace anyperf::annotation {

struct Instruction {
    std::uint64_t address = 0;
    std::uint8_t size = 0;                 ///< in bytes
    std::array<std::uint8_t, 15> bytes{};  ///< of which it has `size`
    std::string text{};  ///< "jne 0x40112d <main+0x1d>"; ".byte 0x06" where no instruction can be decoded
};

enum class Syntax : std::uint8_t { att, intel };

/// The name of an address that an instruction refers to, as "main+0x1d"; empty if it has none.
using NameOf = std::function<std::string(std::uint64_t)>;

/// The x86 instructions of `code`, which is at `address`. `is_64`: the code is for 64-bit mode, else for 32-bit mode.
/// Bytes that cannot be decoded are entries, too: one for each.
std::vector<Instruction> disassemble(symbols::Bytes code, std::uint64_t address, bool is_64, Syntax syntax,
                                     const NameOf& name_of);

/// The bytes of the first instruction of `code`; 0 if it cannot be decoded, or is cut.
std::size_t instruction_length(symbols::Bytes code, bool is_64);

}  // namespace anyperf::annotation
