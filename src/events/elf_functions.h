// elf_functions.h: functions of a program or library by name, as offsets in the file: what a uprobe is placed on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::events {

struct ElfFunction {
    std::string name;
    std::uint64_t offset = 0;     ///< in the file
    bool local = false;           ///< not seen outside its object
    bool hidden_version = false;  ///< an old version that the linker no longer binds to (name@V rather than name@@V)
    bool ifunc = false;           ///< chosen at run time: the offset is that of the function that chooses
};

/// Functions of .symtab and .dynsym, and PLT slots as "name@plt". Sorted by name.
/// Error: not there, not readable, no regular file, no ELF file.
Result<std::vector<ElfFunction>> elf_functions(const std::filesystem::path& file);

/// "ns::f" of "_ZN2ns1fEi"; empty where it is no mangled name.
std::string without_mangling(const std::string& name);

}  // namespace anyperf::events
