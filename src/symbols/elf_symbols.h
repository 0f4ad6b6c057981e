// elf_symbols.h: which symbols of an ELF file name code, as perf chooses them. A report by perf and one by anyperf of
// the same recording should show the same names, so anyperf follows perf's rules, also where others would be as good.
#pragma once

#include "symbols/elf_image.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Which symbols are wanted: of code, or also the variables in sections that are named as data.
enum class SymbolKinds : std::uint8_t { code, code_and_data };

/// The functions of .symtab, or of .dynsym if there is none, with the stubs of the PLT of `loaded` (the file that is
/// mapped; `names` may be its separate debug file). Addresses are those of the ELF file.
SymbolTable elf_symbols(const ElfImage& names, const ElfImage& loaded, SymbolKinds kinds = SymbolKinds::code);

/// Whether the file has a .symtab with names.
bool has_symbol_table(const ElfImage& image);

}  // namespace anyperf::symbols
