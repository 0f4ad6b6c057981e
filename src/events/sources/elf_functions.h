// elf_functions.h: the functions of a program or library by name, as offsets in the file. A uprobe is placed on such an
// offset.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::events {

/// A function symbol or PLT slot.
struct ElfFunction {
    std::string name;             ///< as in the symbol table, mangled
    std::uint64_t offset = 0;     ///< in the file
    bool local = false;           ///< not visible outside its object file
    bool hidden_version = false;  ///< an old version that the linker no longer binds to (name@V, not name@@V)
    bool ifunc = false;           ///< chosen at run time; `offset` is that of the resolver
};

/// Reads the functions of .symtab and .dynsym, and PLT slots as "name@plt". Sorted by name, then by offset. Fails if
/// the file can't be read, or is not a regular ELF file.
Result<std::vector<ElfFunction>> elf_functions(const std::filesystem::path& file);

/// The qualified name without parameters: "ns::f" for "_ZN2ns1fEi"; empty if `name` is not a mangled name.
std::string demangled_name(const std::string& name);

}  // namespace anyperf::events
