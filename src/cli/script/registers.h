// registers.h: the registers of a sample as `perf script -F uregs` prints them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "perfdata/sample_layout.h"

namespace anyperf::cli {

/// Appends " ABI:2    AX:0x1    BX:0x0 …" of the registers that `mask` has, from the lowest bit on. Nothing if the
/// sample has none: abi is 0. Registers of other CPUs than x86 are numbered.
void append_registers(std::uint64_t abi, std::uint64_t mask, const perfdata::Numbers& values, bool are_of_x86,
                      std::string& text);

/// The name of the x86 register with this bit in a mask of registers; "r30" if it has none.
std::string register_name(std::size_t bit);

}  // namespace anyperf::cli
