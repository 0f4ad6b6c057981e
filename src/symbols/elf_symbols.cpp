#include "symbols/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace anyperf::symbols {

namespace {

/// The first section of that type; null if there is none. A file has one .symtab and one .dynsym at most.
const Section* section_of_type(const ElfImage& image, std::uint32_t type) {
    const auto found = std::ranges::find(image.sections(), type, &Section::type);
    return found == image.sections().end() ? nullptr : &*found;
}

/// The symbols that perf keeps (dso__load_sym_internal()) and that can contain code.
bool names_code(const ElfSymbol& symbol, const char* name, const ElfImage& image) {
    if (*name == '\0' || symbol.section == SHN_UNDEF || symbol.section >= image.sections().size()) return false;
    if (symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC && symbol.type != STT_NOTYPE &&
        symbol.type != STT_OBJECT)
        return false;
    const bool arm = image.machine() == EM_AARCH64 || image.machine() == EM_ARM;
    if (arm && *name == '$') return false;  // mapping symbols: $x, $d
    return (image.sections()[symbol.section].flags & SHF_EXECINSTR) != 0;
}

/// perf's elf_sec__is_data(): .data, .rodata and the like, but not .bss.
bool names_data(const ElfSymbol& symbol, const char* name, const ElfImage& image) {
    if (symbol.type != STT_OBJECT || *name == '\0' || symbol.section == SHN_UNDEF) return false;
    return symbol.section < image.sections().size() &&
           std::string_view{image.sections()[symbol.section].name}.find("data") != std::string_view::npos;
}

/// The sizes of the PLT's header and of a stub (perf's dso__synthesize_plt_symbols()).
struct PltShape {
    std::uint64_t header = 16, stub = 16;
};
PltShape plt_shape(std::uint16_t machine) {
    if (machine == EM_ARM) return {20, 12};
    if (machine == EM_AARCH64) return {32, 16};
    return {};
}

/// A stub is named after the dynamic symbol of its relocation: the i-th entry of .rela.plt belongs to the i-th stub.
void add_plt(const ElfImage& image, SymbolTable& table) {
    const Section* plt = image.section(".plt");
    const Section* relocations = image.section(".rela.plt");
    const Section* dynamic = section_of_type(image, SHT_DYNSYM);
    if (!plt || !relocations || !dynamic || !image.is_64() || !image.is_little_endian()) return;
    const std::size_t symbols = image.symbol_count(*dynamic);
    const std::span<const char> names = image.symbol_names(*dynamic);
    const Bytes entries = image.contents(*relocations);
    const PltShape shape = plt_shape(image.machine());
    std::uint64_t address = plt->address + shape.header;
    for (std::size_t i = 0; i + sizeof(Elf64_Rela) <= entries.size(); i += sizeof(Elf64_Rela), address += shape.stub) {
        Elf64_Rela entry;
        std::memcpy(&entry, entries.data() + i, sizeof entry);
        const std::uint64_t which = ELF64_R_SYM(entry.r_info);
        if (which >= symbols || address - plt->address >= plt->size) continue;
        const std::uint32_t name = image.symbol(*dynamic, which).name;
        table.add(address, shape.stub, std::string{name < names.size() ? names.data() + name : ""} + "@plt",
                  {.typed = true, .weak = false, .global = true});
    }
}

}  // namespace

bool has_symbol_table(const ElfImage& image) {
    const Section* table = section_of_type(image, SHT_SYMTAB);
    return table && !image.contents(*table).empty();
}

namespace {

/// The names stay in the mapped file.
void add_symbols(const ElfImage& image, const Section& section, SymbolKinds kinds, SymbolTable& table) {
    const std::span<const char> names = image.symbol_names(section);
    table.use_texts(names, image.owner());
    const std::size_t count = image.symbol_count(section);
    table.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const ElfSymbol each = image.symbol(section, i);
        if (each.name >= names.size()) continue;
        const char* name = names.data() + each.name;
        const bool data = kinds == SymbolKinds::code_and_data && names_data(each, name, image);
        if (data || names_code(each, name, image))
            table.add_at(each.value, each.size, each.name,
                         {.typed = each.type != STT_NOTYPE,
                          .weak = each.binding == STB_WEAK,
                          .global = each.binding == STB_GLOBAL,
                          .data = data});
    }
}

}  // namespace

// `names` is the file with the symbol table, which may be a separate debug file; `loaded` has the PLT's contents, which
// debug files lack.
SymbolTable elf_symbols(const ElfImage& names, const ElfImage& loaded, SymbolKinds kinds) {
    SymbolTable table;
    const Section* section = section_of_type(names, has_symbol_table(names) ? SHT_SYMTAB : SHT_DYNSYM);
    if (section) add_symbols(names, *section, kinds, table);
    // As in perf, the stubs come last: "_init", which has no size and lies before them, goes on into the PLT's header.
    table.finish();
    const std::size_t without_stubs = table.size();
    add_plt(loaded, table);
    if (table.size() != without_stubs) table.finish();
    names.give_back();
    loaded.give_back();
    return table;
}

}  // namespace anyperf::symbols
