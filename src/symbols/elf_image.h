// elf_image.h: an ELF file of either size and byte order, mapped and read with bounds. Nothing in the file is trusted:
// what does not fit is left out.
//
// The files are those that a recording names: they may be of another machine, cut, or made by a stranger. The
// structures are in the System V ABI, "Object Files", and elf(5). They are read number by number (number(), word())
// instead of through the structs of <elf.h>: one code serves both classes and byte orders, and no access can be
// unaligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::symbols {

using Bytes = std::span<const std::byte>;

/// A PT_LOAD segment.
struct Segment {
    std::uint64_t file_offset = 0;
    std::uint64_t file_size = 0;
    std::uint64_t address = 0;
    bool executable = false;
};

/// A section header. The name is in the image.
struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t file_offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;  ///< of a symbol table: the index of the section with its names
    std::uint64_t entry_size = 0;
};

/// An entry of a symbol table. `section` may be one of the special indices (SHN_UNDEF, SHN_ABS …).
struct ElfSymbol {
    std::uint64_t value = 0;  ///< an address of the ELF file
    std::uint64_t size = 0;   ///< 0: unknown, as of labels in assembly
    std::uint32_t name = 0;   ///< where its name begins in ElfImage::symbol_names()
    std::uint16_t section = 0;
    std::uint8_t type = 0;     ///< STT_FUNC …
    std::uint8_t binding = 0;  ///< STB_GLOBAL …
};

/// A view of a file. Copies share the mapping, which lives as long as one of them; all views that it gives live as
/// long.
class ElfImage {
  public:
    /// Maps `path`. Fails if it can't be opened or is not an ELF file.
    static Result<ElfImage> open(const std::string& path);

    /// An image in memory, such as the vDSO. Fails if it is not ELF.
    static Result<ElfImage> of(std::vector<std::byte> bytes);

    /// Gives the memory of a file back to the kernel, after a pass over much of it. A later access reads it again.
    void give_back() const;

    const std::vector<Segment>& segments() const { return segments_; }
    const std::vector<Section>& sections() const { return sections_; }

    /// The first section of that name; null if there is none.
    const Section* section(std::string_view name) const;

    /// The bytes of a section in the file; empty if it has none or passes the end. Compressed sections stay so.
    Bytes contents(const Section& section) const;

    /// The bytes that are loaded at `address`, up to the end of its segment in the file.
    Bytes at_address(std::uint64_t address) const;

    /// The symbol with that number in a SHT_SYMTAB or SHT_DYNSYM section, whose contents have it.
    ElfSymbol symbol(const Section& section, std::size_t which) const;
    /// How many symbols the section has.
    std::size_t symbol_count(const Section& section) const;
    /// The names of a section's symbols, each with a NUL. Empty, or it ends with a NUL.
    std::span<const char> symbol_names(const Section& section) const;

    /// The ELF address of a file offset, by the segment that holds it; the offset itself if none does.
    std::uint64_t address_of(std::uint64_t file_offset) const;

    /// The build id (the note NT_GNU_BUILD_ID), hexadecimal; empty if the file has none.
    std::string build_id() const;

    /// .gnu_debuglink: a file's name, or empty, and the CRC-32 of that file.
    struct DebugLink {
        std::string file;
        std::uint32_t crc = 0;
    };
    DebugLink debug_link() const;

    bool is_64() const { return is_64_; }
    bool is_little_endian() const { return little_; }
    std::uint16_t machine() const { return machine_; }  ///< e_machine
    Bytes bytes() const { return bytes_; }
    /// What must live as long as views of the image.
    const std::shared_ptr<const void>& owner() const { return owner_; }
    /// Where the file was opened; empty of an image in memory.
    const std::string& path() const { return path_; }

  private:
    static Result<ElfImage> parse(std::shared_ptr<const void> owner, Bytes bytes);
    void read_segments(std::uint64_t offset, std::size_t entry_size, std::size_t count);
    void read_sections(std::uint64_t offset, std::size_t entry_size, std::size_t count, std::size_t names);

    std::uint64_t number(std::uint64_t offset, std::size_t size) const;  // 0 where the file ends before
    std::uint64_t word(std::uint64_t offset) const { return number(offset, is_64_ ? 8 : 4); }

    std::shared_ptr<const void> owner_;  // the mapping or the vector
    Bytes bytes_;
    std::string path_;
    std::vector<Segment> segments_;
    std::vector<Section> sections_;
    std::uint16_t machine_ = 0;
    bool is_64_ = true;
    bool little_ = true;
};

}  // namespace anyperf::symbols
