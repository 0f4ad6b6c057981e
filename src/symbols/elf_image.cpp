// elf_image.cpp: the tables of an ELF file, read number by number. A file that is cut or damaged has fewer segments,
// sections or symbols here, and never an error: what is left may still name most of the code.
//
// A read beyond the end of a file that was cut after it was mapped faults (SIGBUS, mmap(2)). This is not guarded
// against.
#include "symbols/elf_image.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "symbols/build_id_note.h"

namespace anyperf::symbols {

namespace {

/// Where the fields of ELF structures are, by class (System V ABI, "Object Files"; elf.h).
struct Layout {
    std::uint8_t phoff, shoff, phentsize;  // phentsize, phnum, shentsize, shnum and shstrndx follow each other
    std::uint8_t ph_flags, ph_offset, ph_vaddr, ph_filesz, ph_size;
    std::uint8_t sh_flags, sh_addr, sh_offset, sh_size, sh_link, sh_entsize, sh_bytes;
    std::uint8_t st_value, st_size, st_info, st_shndx, st_bytes;
};
constexpr Layout k32{28, 32, 42, 24, 4, 8, 16, 32, 8, 12, 16, 20, 24, 36, 40, 4, 8, 12, 14, 16};
constexpr Layout k64{32, 40, 54, 4, 8, 16, 32, 56, 8, 16, 24, 32, 40, 56, 64, 8, 16, 4, 6, 24};
static_assert(sizeof(Elf64_Shdr) == k64.sh_bytes && sizeof(Elf64_Sym) == k64.st_bytes &&
              sizeof(Elf64_Phdr) == k64.ph_size);
static_assert(sizeof(Elf32_Shdr) == k32.sh_bytes && sizeof(Elf32_Sym) == k32.st_bytes &&
              sizeof(Elf32_Phdr) == k32.ph_size);

const Layout& layout(bool is_64) {
    return is_64 ? k64 : k32;
}

/// Whether [offset, offset + size) is within the bytes. By subtraction: the sum of two numbers of a file may overflow.
bool contains(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// The text at `offset` up to its NUL; empty if it has none.
std::string_view text_at(Bytes bytes, std::uint64_t offset) {
    if (offset >= bytes.size()) return {};
    const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
    const std::size_t room = bytes.size() - offset;
    const std::size_t length = strnlen(begin, room);
    return length < room ? std::string_view{begin, length} : std::string_view{};
}

}  // namespace

Result<ElfImage> ElfImage::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::unexpected(Error{"cannot read " + path, strerror(errno), {}});
    struct stat status{};
    // Special files may block, or have no size.
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(fd);
        return std::unexpected(Error{"cannot read " + path, "it is not a regular file with contents", {}});
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return std::unexpected(Error{"cannot map " + path, strerror(errno), {}});
    std::shared_ptr<const void> owner{mapped, [size](void* memory) { munmap(memory, size); }};
    auto image = parse(owner, {static_cast<const std::byte*>(mapped), size});
    if (!image)
        image.error().what = "cannot read " + path;
    else
        image->path_ = path;
    return image;
}

// Only a file has a path. Its mapping is never written to, so its pages are those of the file.
void ElfImage::give_back() const {
    if (!path_.empty()) madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

Result<ElfImage> ElfImage::of(std::vector<std::byte> bytes) {
    const auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    return parse(owner, *owner);
}

// The header's fields up to e_version have the same place in both classes; e_machine is at offset 18. The five halves
// from e_phentsize on follow each other in both. They are e_phentsize, e_phnum, e_shentsize, e_shnum and e_shstrndx.
// With 0xff00 sections or more e_shnum is 0 and the true number is in the first section header (elf(5)); such a file
// has no sections here.
Result<ElfImage> ElfImage::parse(std::shared_ptr<const void> owner, Bytes bytes) {
    if (bytes.size() < sizeof(Elf32_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        return std::unexpected(Error{"cannot read an ELF file", "it does not begin as an ELF file does", {}});
    ElfImage image;
    image.owner_ = std::move(owner);
    image.bytes_ = bytes;
    image.is_64_ = bytes[EI_CLASS] == std::byte{ELFCLASS64};
    image.little_ = bytes[EI_DATA] != std::byte{ELFDATA2MSB};
    image.machine_ = static_cast<std::uint16_t>(image.number(18, 2));
    const Layout& at = layout(image.is_64_);
    const auto half = [&](std::size_t which) { return image.number(at.phentsize + which * 2, 2); };
    image.read_segments(image.word(at.phoff), half(0), half(1));
    image.read_sections(image.word(at.shoff), half(2), half(3), half(4));
    return image;
}

namespace {

template <class Number>
std::uint64_t load(const std::byte* at, bool turned) {
    Number value;
    std::memcpy(&value, at, sizeof value);
    return turned ? std::byteswap(value) : value;
}

}  // namespace

// A number of 1, 2, 4 or 8 bytes in the byte order of the file. Reading the symbols of a large file is mostly this.
std::uint64_t ElfImage::number(std::uint64_t offset, std::size_t size) const {
    if (!contains(bytes_, offset, size)) return 0;
    const std::byte* at = bytes_.data() + offset;
    const bool turned = little_ != (std::endian::native == std::endian::little);
    switch (size) {
        case 1: return load<std::uint8_t>(at, turned);
        case 2: return load<std::uint16_t>(at, turned);
        case 4: return load<std::uint32_t>(at, turned);
        default: return load<std::uint64_t>(at, turned);
    }
}

// A table that does not fit into the file is left out as a whole. An entry may be longer than this code knows.
void ElfImage::read_segments(std::uint64_t offset, std::size_t entry_size, std::size_t count) {
    const Layout& at = layout(is_64_);
    if (entry_size < at.ph_size || !contains(bytes_, offset, entry_size * count)) return;
    for (std::size_t i = 0; i < count; ++i, offset += entry_size) {
        if (number(offset, 4) != PT_LOAD) continue;
        segments_.push_back({word(offset + at.ph_offset), word(offset + at.ph_filesz), word(offset + at.ph_vaddr),
                             (number(offset + at.ph_flags, 4) & PF_X) != 0});
    }
}

// Names are in a section themselves, so they are set after all headers have been read.
void ElfImage::read_sections(std::uint64_t offset, std::size_t entry_size, std::size_t count, std::size_t names) {
    const Layout& at = layout(is_64_);
    if (entry_size < at.sh_bytes || !contains(bytes_, offset, entry_size * count)) return;
    std::vector<std::uint64_t> name_offsets;
    for (std::size_t i = 0; i < count; ++i, offset += entry_size) {
        name_offsets.push_back(number(offset, 4));
        sections_.push_back({{},
                             static_cast<std::uint32_t>(number(offset + 4, 4)),
                             word(offset + at.sh_flags),
                             word(offset + at.sh_addr),
                             word(offset + at.sh_offset),
                             word(offset + at.sh_size),
                             static_cast<std::uint32_t>(number(offset + at.sh_link, 4)),
                             word(offset + at.sh_entsize)});
    }
    if (names >= sections_.size()) return;
    const Bytes texts = contents(sections_[names]);
    for (std::size_t i = 0; i < sections_.size(); ++i) sections_[i].name = text_at(texts, name_offsets[i]);
}

const Section* ElfImage::section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
}

// SHT_NOBITS is what the file does not contain (.bss, and every section of code in a separate debug file).
Bytes ElfImage::contents(const Section& section) const {
    if (section.type == SHT_NOBITS || !contains(bytes_, section.file_offset, section.size)) return {};
    return bytes_.subspan(section.file_offset, section.size);
}

// Only what the file has: a segment may be longer in memory than in the file (.bss), and its rest has no bytes.
Bytes ElfImage::at_address(std::uint64_t address) const {
    for (const Segment& each : segments_) {
        if (address < each.address || address - each.address >= each.file_size) continue;
        if (!contains(bytes_, each.file_offset, each.file_size)) return {};
        return bytes_.subspan(each.file_offset, each.file_size).subspan(address - each.address);
    }
    return {};
}

// st_info has the type in its lower four bits and the binding in the upper four.
ElfSymbol ElfImage::symbol(const Section& section, std::size_t which) const {
    const Layout& at = layout(is_64_);
    const std::uint64_t entry = section.file_offset + which * at.st_bytes;
    const auto info = static_cast<std::uint8_t>(number(entry + at.st_info, 1));
    return {word(entry + at.st_value),
            word(entry + at.st_size),
            static_cast<std::uint32_t>(number(entry, 4)),
            static_cast<std::uint16_t>(number(entry + at.st_shndx, 2)),
            static_cast<std::uint8_t>(info & 15),
            static_cast<std::uint8_t>(info >> 4)};
}

std::size_t ElfImage::symbol_count(const Section& section) const {
    return contents(section).size() / layout(is_64_).st_bytes;
}

// The section that a table of symbols links to has their names. A damaged one may end within a name, which is left out.
std::span<const char> ElfImage::symbol_names(const Section& section) const {
    if (section.link >= sections_.size()) return {};
    const Bytes texts = contents(sections_[section.link]);
    const auto end = std::ranges::find(texts.rbegin(), texts.rend(), std::byte{0}).base();
    return {reinterpret_cast<const char*>(texts.data()), static_cast<std::size_t>(end - texts.begin())};
}

// A profile has offsets in files, from the maps; symbols and unwind tables have the linker's addresses.
std::uint64_t ElfImage::address_of(std::uint64_t file_offset) const {
    for (const Segment& each : segments_)
        if (file_offset >= each.file_offset && file_offset - each.file_offset < each.file_size)
            return file_offset - each.file_offset + each.address;
    return file_offset;
}

// Linkers give the build id a section of its own; the vDSO has several notes in one. An image without section headers
// has no build id here, though its PT_NOTE segment may have one.
std::string ElfImage::build_id() const {
    for (const Section& each : sections_) {
        if (each.type != SHT_NOTE) continue;
        if (std::string id = build_id_in_notes(contents(each), little_); !id.empty()) return id;
    }
    return {};
}

// The name, its NUL, up to three bytes of padding, and the checksum (GDB manual, "Separate Debug Files").
ElfImage::DebugLink ElfImage::debug_link() const {
    const Section* link = section(".gnu_debuglink");
    if (!link) return {};
    const std::string_view file = text_at(contents(*link), 0);
    return {std::string{file}, static_cast<std::uint32_t>(number(link->file_offset + (file.size() + 4) / 4 * 4, 4))};
}

}  // namespace anyperf::symbols
