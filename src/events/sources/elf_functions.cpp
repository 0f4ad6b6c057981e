// elf_functions.cpp: reads with libelf. Nothing in the file is trusted beyond what libelf checks.
//
// A uprobe is placed at an offset in a file, not at an address (uprobetracer.rst of the kernel), so each symbol's value
// is converted by the segment that loads it. A file is opened with O_NONBLOCK: the path is the user's, and a FIFO must
// not block.
#include "events/sources/elf_functions.h"

#include "host/printable.h"
#include "try.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>

namespace anyperf::events {

namespace {

constexpr std::uint16_t kHiddenVersion = 0x8000;  // bit 15 of an entry of .gnu.version

/// An open file that is known to be ELF.
class ElfFile {
  public:
    static Result<ElfFile> open(const std::filesystem::path& path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) return failure(path, std::generic_category().message(errno));
        ElfFile file{fd};
        struct stat status{};
        if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return failure(path, "it is not a regular file");
        elf_version(EV_CURRENT);
        file.elf_.reset(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
        if (!file.elf_ || elf_kind(file.elf_.get()) != ELF_K_ELF) return failure(path, "it is not an ELF file");
        return file;
    }

    ElfFile(ElfFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), elf_(std::move(other.elf_)) {}
    ElfFile& operator=(ElfFile&&) = delete;
    ~ElfFile() {
        elf_.reset();
        if (fd_ >= 0) ::close(fd_);
    }

    Elf* get() const { return elf_.get(); }

  private:
    explicit ElfFile(int fd) : fd_(fd) {}

    static std::unexpected<Error> failure(const std::filesystem::path& path, std::string cause) {
        return std::unexpected(
            Error{"cannot read the functions of " + host::printable(path.string()), std::move(cause), ""});
    }

    struct End {
        void operator()(Elf* elf) const { elf_end(elf); }
    };
    int fd_;
    std::unique_ptr<Elf, End> elf_;
};

struct Section {
    Elf_Scn* scn = nullptr;
    GElf_Shdr header{};
    std::string_view name;
};

/// The section headers; fewer, or none, if the file is damaged.
std::vector<Section> sections_of(Elf* elf) {
    std::vector<Section> sections;
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return sections;
    for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn));) {
        Section section{scn, {}, {}};
        if (!gelf_getshdr(scn, &section.header)) continue;
        const char* name = elf_strptr(elf, names, section.header.sh_name);
        section.name = name ? name : "";
        sections.push_back(section);
    }
    return sections;
}

/// The offset in the file of the byte that the loader puts at `address`; nothing if no loaded segment has it.
std::optional<std::uint64_t> file_offset(Elf* elf, std::uint64_t address) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, static_cast<int>(i), &segment) || segment.p_type != PT_LOAD) continue;
        if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    }
    return std::nullopt;
}

/// The entry of .gnu.version for a dynamic symbol. A dynamic symbol may exist in several versions. Bit 15 marks those
/// that the linker does not bind new programs to.
std::uint16_t version_of(const std::vector<Section>& sections, std::size_t index) {
    const auto section =
        std::ranges::find_if(sections, [](const Section& s) { return s.header.sh_type == SHT_GNU_versym; });
    if (section == sections.end()) return 0;
    Elf_Data* data = elf_getdata(section->scn, nullptr);
    GElf_Versym version = 0;
    return data && gelf_getversym(data, static_cast<int>(index), &version) ? version : 0;
}

/// How many entries the section has, by its header.
std::size_t entries(const Section& section) {
    return section.header.sh_entsize ? section.header.sh_size / section.header.sh_entsize : 0;
}

/// Adds the defined functions of a symbol table, with their offset in the file. An undefined symbol is only used in
/// this file, so it has no code to probe. A symbol outside
/// all loaded segments has no offset in the file and is left out, too.
void add_symbols(Elf* elf, const std::vector<Section>& sections, const Section& table,
                 std::vector<ElfFunction>& functions) {
    Elf_Data* data = elf_getdata(table.scn, nullptr);
    if (!data) return;
    for (std::size_t i = 0; i < entries(table); ++i) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
        const char* name = elf_strptr(elf, table.header.sh_link, symbol.st_name);
        const auto offset = file_offset(elf, symbol.st_value);
        if (!name || !*name || !offset) continue;
        const bool hidden = table.header.sh_type == SHT_DYNSYM && version_of(sections, i) & kHiddenVersion;
        functions.push_back({name, *offset, GELF_ST_BIND(symbol.st_info) == STB_LOCAL, hidden, type == STT_GNU_IFUNC});
    }
}

const Section* find(const std::vector<Section>& sections, std::string_view name) {
    const auto section = std::ranges::find(sections, name, &Section::name);
    return section == sections.end() ? nullptr : &*section;
}

/// Adds the PLT slots. Slot i of .rela.plt is entry i of .plt.sec, or i + 1 of .plt, whose first entry is the resolver
/// (x86-64 psABI).
void add_plt(Elf* elf, const std::vector<Section>& sections, std::vector<ElfFunction>& functions) {
    const Section* relocations = find(sections, ".rela.plt");
    const Section* second = find(sections, ".plt.sec");
    const Section* plt = second ? second : find(sections, ".plt");
    Elf_Data* data = relocations ? elf_getdata(relocations->scn, nullptr) : nullptr;
    Elf_Scn* table = relocations ? elf_getscn(elf, relocations->header.sh_link) : nullptr;
    Elf_Data* symbols = table ? elf_getdata(table, nullptr) : nullptr;
    GElf_Shdr header;
    if (!plt || !data || !symbols || !gelf_getshdr(table, &header)) return;
    const std::uint64_t slot_bytes = plt->header.sh_entsize ? plt->header.sh_entsize : 16;
    for (std::size_t i = 0; i < entries(*relocations); ++i) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (!gelf_getrela(data, static_cast<int>(i), &relocation)) break;
        if (!gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol)) continue;
        const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        const std::uint64_t slot = (second ? i : i + 1) * slot_bytes;
        if (name && *name && slot < plt->header.sh_size)
            functions.push_back({std::string{name} + "@plt", plt->header.sh_offset + slot, false, false, false});
    }
}

}  // namespace

// A function may be in .symtab and .dynsym; whoever looks for a name drops equal offsets.
Result<std::vector<ElfFunction>> elf_functions(const std::filesystem::path& path) {
    const ElfFile file = TRY(ElfFile::open(path));
    const std::vector<Section> sections = sections_of(file.get());
    std::vector<ElfFunction> functions;
    for (const Section& section : sections)
        if (section.header.sh_type == SHT_SYMTAB || section.header.sh_type == SHT_DYNSYM)
            add_symbols(file.get(), sections, section, functions);
    add_plt(file.get(), sections, functions);
    std::ranges::sort(functions, {},
                      [](const ElfFunction& function) { return std::tie(function.name, function.offset); });
    return functions;
}

std::string demangled_name(const std::string& name) {
    if (!name.starts_with("_Z")) return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain{
        ::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free};
    if (status != 0 || !plain) return {};
    std::string text{plain.get()};
    return text.substr(0, text.find('('));
}

}  // namespace anyperf::events
