// runtime.cpp: symbols are found as the dynamic linker does: by the hash table of the image (DT_GNU_HASH), so that an
// image without an interpreter costs few reads.
#include "python/runtime.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace anyperf::python {

namespace {

/// What the dynamic section of an image says, as addresses in memory.
struct Dynamic {
    std::uint64_t bias = 0;  ///< between the file's addresses and memory
    std::uint64_t hash = 0;
    std::uint64_t symbols = 0;
    std::uint64_t names = 0;
};

/// The dynamic linker of glibc replaces the addresses in this section by those in memory, others leave them.
void take(std::uint64_t& out, std::uint64_t value, std::uint64_t start, std::uint64_t bias) {
    out = value < start ? bias + value : value;
}

std::optional<Dynamic> read_dynamic(const Memory& memory, std::uint64_t start, std::uint64_t bias,
                                    std::uint64_t section) {
    constexpr unsigned kMost = 256;
    Dynamic found{.bias = bias};
    for (unsigned i = 0; i < kMost; ++i) {
        const auto entry = memory.value<Elf64_Dyn>(section + i * sizeof(Elf64_Dyn));
        if (!entry || entry->d_tag == DT_NULL) break;
        if (entry->d_tag == DT_GNU_HASH) take(found.hash, entry->d_un.d_ptr, start, bias);
        if (entry->d_tag == DT_SYMTAB) take(found.symbols, entry->d_un.d_ptr, start, bias);
        if (entry->d_tag == DT_STRTAB) take(found.names, entry->d_un.d_ptr, start, bias);
    }
    if (found.hash == 0 || found.symbols == 0 || found.names == 0) return std::nullopt;
    return found;
}

std::optional<Dynamic> dynamic_of(const Memory& memory, std::uint64_t start) {
    constexpr unsigned kMostSegments = 64;
    const auto header = memory.value<Elf64_Ehdr>(start);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_phentsize != sizeof(Elf64_Phdr))
        return std::nullopt;
    std::optional<std::uint64_t> bias, section;
    for (unsigned i = 0; i < std::min<unsigned>(header->e_phnum, kMostSegments); ++i) {
        const auto segment = memory.value<Elf64_Phdr>(start + header->e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment) return std::nullopt;
        if (segment->p_type == PT_LOAD && segment->p_offset == 0) bias = start - segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC) section = segment->p_vaddr;
    }
    if (!bias || !section) return std::nullopt;
    return read_dynamic(memory, start, *bias, *bias + *section);
}

std::uint32_t hash_of(std::string_view name) {
    std::uint32_t hash = 5381;
    for (const char each : name) hash = hash * 33 + static_cast<unsigned char>(each);
    return hash;
}

bool has_name(const Memory& memory, std::uint64_t address, std::string_view name) {
    constexpr std::size_t kLongest = 64;
    char text[kLongest];
    return name.size() < kLongest && memory.read(text, address, name.size() + 1) && text[name.size()] == 0 &&
           std::string_view{text, name.size()} == name;
}

/// The head of DT_GNU_HASH. A filter of words follows, then the buckets, then a hash for each symbol.
struct HashHead {
    std::uint32_t buckets, first_symbol, filter_words, shift;
};

std::optional<ImageSymbol> find(const Memory& memory, const Dynamic& image, std::string_view name) {
    constexpr unsigned kLongestChain = 1 << 14;
    const auto head = memory.value<HashHead>(image.hash);
    if (!head || head->buckets == 0 || head->filter_words == 0) return std::nullopt;
    const std::uint32_t hash = hash_of(name);
    const std::uint64_t filter = image.hash + sizeof(HashHead);
    const std::uint64_t word = memory.word(filter + hash / 64 % head->filter_words * sizeof(std::uint64_t));
    if ((word >> hash % 64 & word >> (hash >> (head->shift & 31)) % 64 & 1) == 0) return std::nullopt;
    const std::uint64_t buckets = filter + head->filter_words * sizeof(std::uint64_t);
    const std::uint64_t chains = buckets + head->buckets * sizeof(std::uint32_t);
    std::uint64_t index =
        memory.value<std::uint32_t>(buckets + hash % head->buckets * sizeof(std::uint32_t)).value_or(0);
    for (unsigned i = 0; i < kLongestChain && index >= head->first_symbol && index != 0; ++i, ++index) {
        const auto known = memory.value<std::uint32_t>(chains + (index - head->first_symbol) * sizeof(std::uint32_t));
        if (!known) return std::nullopt;
        if ((*known | 1) == (hash | 1)) {
            const auto symbol = memory.value<Elf64_Sym>(image.symbols + index * sizeof(Elf64_Sym));
            if (symbol && symbol->st_shndx != SHN_UNDEF && has_name(memory, image.names + symbol->st_name, name))
                return ImageSymbol{image.bias + symbol->st_value, symbol->st_size};
        }
        if ((*known & 1) != 0) break;
    }
    return std::nullopt;
}

/// The minor version of Python 3. Py_Version has it from 3.11 on. Before that, each version has functions that the one
/// before it lacks.
std::uint16_t minor_version(const Memory& memory, const Dynamic& image) {
    if (const auto version = find(memory, image, "Py_Version")) {
        const std::uint64_t value = memory.word(version->address);
        return value >> 24 == 3 ? value >> 16 & 0xff : 0;
    }
    struct Row {
        std::string_view symbol;
        std::uint16_t minor;
    };
    constexpr Row kRows[] = {{"Py_NewRef", 10}, {"PyObject_CallNoArgs", 9}, {"PyCode_NewWithPosOnlyArgs", 8}};
    for (const Row& row : kRows)
        if (find(memory, image, row.symbol)) return row.minor;
    return 0;
}

}  // namespace

std::optional<ImageSymbol> find_image_symbol(const Memory& memory, std::uint64_t start, std::string_view name) {
    const auto image = dynamic_of(memory, start);
    return image ? find(memory, *image, name) : std::nullopt;
}

std::optional<Runtime> find_runtime(const Memory& memory, std::uint64_t start) {
    const auto image = dynamic_of(memory, start);
    if (!image) return std::nullopt;
    const auto state = find(memory, *image, "_PyRuntime");
    const auto eval = state ? find(memory, *image, "_PyEval_EvalFrameDefault") : std::nullopt;
    if (!eval) return std::nullopt;
    const auto layout = layout_of(memory, minor_version(memory, *image), state->address);
    if (!layout) return std::nullopt;
    return Runtime{*layout, state->address, eval->address, eval->address + eval->bytes};
}

}  // namespace anyperf::python
