// vdso_symbol.cpp: walks the dynamic section in memory: the vDSO has no file, and the engine has no libc. The image is
// the kernel's own, so its tables are trusted. Only the address that is found is checked against the image's bounds.
#include "agent/vdso_symbol.h"

#include <elf.h>

#include "run/kernel_call.h"

namespace anyperf::agent {

using run::address_of;
using run::at_address;

namespace {

/// The vDSO's dynamic symbols, as addresses in memory.
struct Symbols {
    const Elf64_Sym* table = nullptr;
    const char* names = nullptr;
    std::uint64_t count = 0;
};

Symbols symbols_of(std::uint64_t image, const Elf64_Dyn* dynamic, std::uint64_t bias) {
    Symbols found;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        const std::uint64_t address = bias + dynamic->d_un.d_ptr;
        if (address < image) continue;
        if (dynamic->d_tag == DT_SYMTAB) found.table = at_address<const Elf64_Sym>(address);
        if (dynamic->d_tag == DT_STRTAB) found.names = at_address<const char>(address);
        if (dynamic->d_tag == DT_HASH) found.count = at_address<const std::uint32_t>(address)[1];
    }
    // Only DT_HASH gives the number of symbols. Without it, the string table is taken to follow the symbol table.
    if (found.count == 0 && found.table != nullptr && address_of(found.names) > address_of(found.table))
        found.count = (address_of(found.names) - address_of(found.table)) / sizeof(Elf64_Sym);
    return found;
}

}  // namespace

std::uint64_t find_vdso_function(std::uint64_t image, std::uint64_t end, std::string_view name) {
    if (image == 0) return 0;
    const auto& header = *at_address<const Elf64_Ehdr>(image);
    const auto* const segments = at_address<const Elf64_Phdr>(image + header.e_phoff);
    const Elf64_Dyn* dynamic = nullptr;
    std::uint64_t bias = 0;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        if (segments[i].p_type == PT_LOAD) bias = image + segments[i].p_offset - segments[i].p_vaddr;
        if (segments[i].p_type == PT_DYNAMIC) dynamic = at_address<const Elf64_Dyn>(image + segments[i].p_offset);
    }
    if (dynamic == nullptr) return 0;
    const Symbols symbols = symbols_of(image, dynamic, bias);
    for (std::uint64_t i = 0; symbols.table != nullptr && symbols.names != nullptr && i < symbols.count; ++i) {
        const Elf64_Sym& symbol = symbols.table[i];
        if (std::string_view{symbols.names + symbol.st_name} != name) continue;
        const std::uint64_t address = bias + symbol.st_value;
        return address > image && address < end ? address : 0;
    }
    return 0;
}

}  // namespace anyperf::agent
